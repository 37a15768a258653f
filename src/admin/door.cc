#include "admin/door.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "admin/answers.h"
#include "base/ascii.h"
#include "base/secret.h"
#include "base/to_number.h"

namespace cleave::admin {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPeers = "/peer/";

// "host:port" and "[::1]:port" without the port and the brackets.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.rfind(':'));
}

// Four numbers and three dots; or, with a colon, what can be no name.
bool is_address(std::string_view host) {
  if (host.contains(':')) return true;
  int numbers = 0;
  for (std::size_t begin = 0; begin <= host.size(); ++numbers) {
    const std::size_t end = std::min(host.find('.', begin), host.size());
    if (!to_number<std::uint8_t>(host.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return numbers == 4;
}

// "application/json; charset=utf-8" too.
bool is_json(std::string_view type) {
  std::string_view kind = type.substr(0, type.find(';'));
  while (kind.ends_with(' ')) kind.remove_suffix(1);
  return lowered(kind) == kJson;
}

bool is_order(const net::HttpRequest& request) {
  return request.method != "GET" && request.method != "HEAD" && !request.path.starts_with(kPeers);
}

}  // namespace

Door::Door(Options options) : token_(std::move(options.token)), names_(std::move(options.hosts)) {
  names_.emplace_back("localhost");
  if (!options.advertise.empty()) names_.emplace_back(host_of(options.advertise));
  for (std::string& name : names_) name = lowered(name);
}

bool Door::knows(std::string_view host) const {
  return is_address(host) || std::ranges::find(names_, lowered(host)) != names_.end();
}

std::optional<net::HttpResponse> Door::refusal(const net::HttpRequest& request) const {
  const std::string_view host = net::find_header(request.headers, "host");
  const std::string_view origin = net::find_header(request.headers, "origin");
  if (!origin.empty() && origin != "http://" + std::string(host)) {
    return plain_error(403, "forbidden",
                       "a page of " + std::string(origin) + " has no business here");
  }
  if (request.path == "/ready") return std::nullopt;
  if (request.path != "/metrics" && !host.empty() && !knows(host_of(host))) {
    return plain_error(421, "misdirected",
                       "'" + std::string(host_of(host)) +
                           "' is no name of this router: use its IP address, or list the name "
                           "under admin.hosts in the router's configuration");
  }
  if (!token_.empty() &&
      !same_secret(net::find_header(request.headers, "authorization"), "Bearer " + token_)) {
    const bool none = net::find_header(request.headers, "authorization").empty();
    return plain_error(401, "unauthorized",
                       std::string(none ? "this router wants its token" : "that token is wrong") +
                           ": set CLEAVE_TOKEN or --token to what admin.token says in the router's "
                           "configuration (over HTTP the header 'Authorization: Bearer TOKEN')");
  }
  if (is_order(request) && !is_json(net::find_header(request.headers, "content-type"))) {
    return plain_error(415, "invalid",
                       "an order needs the header 'Content-Type: application/json', also where its "
                       "body is empty");
  }
  return std::nullopt;
}

}  // namespace cleave::admin
