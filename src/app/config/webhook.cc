#include "app/config/webhook.h"

#include <utility>

#include "net/http.h"

namespace cleave::app {
namespace {

constexpr milliseconds kPatience{5'000};
constexpr std::size_t kAnswerBytesMax = 65'536;  // which nobody reads

}  // namespace

Result<net::Url> parse_webhook_url(std::string_view text) {
  Result<net::Url> url = net::parse_url(text);
  if (!url || url->tls)
    return fail(Code::kInvalid, "want http://HOST[:PORT][/PATH], got '" + std::string(text) + "'");
  return url;
}

void send_webhook(net::Loop& loop, const net::Url& url, std::string body,
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
