#include "app/config/webhook.h"

#include <utility>

#include "net/http.h"

namespace cleave::app {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::uint16_t kHttpPort = 80;
constexpr milliseconds kPatience{5'000};
constexpr std::size_t kAnswerBytesMax = 65'536;  // which nobody reads

}  // namespace

Result<WebhookUrl> parse_webhook_url(std::string_view text) {
  const std::string want = "want http://HOST[:PORT][/PATH], got '" + std::string(text) + "'";
  if (!text.starts_with(kScheme)) return fail(Code::kInvalid, want);
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  std::string host(rest.substr(0, slash));
  // A port is behind the last colon, but "[::1]" has colons of its own.
  const std::size_t colon = host.rfind(':');
  if (colon == host.npos || host.ends_with(']')) host += ":" + std::to_string(kHttpPort);
  Result<net::Address> address = net::parse_address(host);
  if (!address) return fail(Code::kInvalid, want);
  return WebhookUrl{.address = std::move(*address),
                    .target = slash == rest.npos ? "/" : std::string(rest.substr(slash))};
}

void send_webhook(net::Loop& loop, const WebhookUrl& url, std::string body,
                  std::function<void(const std::string&)> log) {
  net::http_request(loop,
                    {.address = url.address,
                     .method = "POST",
                     .target = url.target,
                     .headers = {{"content-type", "application/json"}},
                     .body = std::move(body),
                     .timeout = kPatience,
                     .response_bytes_max = kAnswerBytesMax},
                    [log = std::move(log)](const Result<net::HttpReply>& reply) {
                      if (!reply) return log("webhook: " + reply.error().message);
                      if (reply->status / 100 != 2)
                        log("webhook: answered with status " + std::to_string(reply->status));
                    });
}

}  // namespace cleave::app
