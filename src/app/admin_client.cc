#include "app/admin_client.h"

#include <cstdint>
#include <utility>

#include "net/http.h"
#include "net/url.h"

namespace cleave::app {
namespace {

constexpr int kAskThere = 307;

Error error_in(const net::HttpReply& reply, const Json& body) {
  const auto error = body.find("error");
  if (error == body.end() || !error->is_object()) {
    return {Code::kUnavailable,
            "the router answered with HTTP status " + std::to_string(reply.status)};
  }
  const std::string code = error->value("code", "");
  if (code == "unknown") return {Code::kTimeout, error->value("message", "")};
  const Result<Code> known = parse_code(code);
  return known ? Error{*known, error->value("message", "")}
               : Error{Code::kInvalid, error->value("message", code)};
}

}  // namespace

AdminClient::Answer AdminClient::get(const std::string& target) const {
  return call("GET", target, "");
}

AdminClient::Answer AdminClient::post(const std::string& target, const Json& body,
                                      milliseconds timeout) const {
  return call("POST", target, body.dump(), timeout);
}

AdminClient::Answer AdminClient::remove(const std::string& target) const {
  return call("DELETE", target, "");
}

AdminClient::Answer AdminClient::call(std::string method, const std::string& target,
                                      std::string body, milliseconds timeout) const {
  const bool is_order = method != "GET";
  net::HttpCall call;
  call.address = address_;
  call.timeout = timeout;
  call.method = std::move(method);
  call.target = target;
  call.body = std::move(body);
  // An order is one only as JSON, so that no page of another site can give it by a browser.
  if (is_order) call.headers.emplace_back("content-type", "application/json");
  if (!token_.empty()) call.headers.emplace_back("authorization", "Bearer " + token_);
  Result<net::HttpReply> reply = net::http_call(call);
  // A router of an older version answers for the leader's things with the leader's address. Once:
  // during a change of leaders two could point at each other.
  if (reply && reply->status == kAskThere) {
    const Result<net::Url> leader = net::parse_url(net::find_header(reply->headers, "location"));
    if (leader) {
      call.address = leader->address;
      reply = net::http_call(std::move(call));
    }
  }
  if (!reply && reply.error().code == Code::kTimeout && is_order) {
    const std::string text = "the router at " + net::to_string(address_) +
                             " took the connection but gave no answer; an order may have been "
                             "carried out all the same, `cleave orders` tells";
    return std::unexpected(CallFailure{.unreachable = false, .error = {Code::kTimeout, text}});
  }
  if (!reply) {
    const std::string text = "no router answers at " + net::to_string(address_) +
                             "; is one running, and is --admin right? (" + reply.error().message +
                             ")";
    return std::unexpected(CallFailure{.unreachable = true, .error = {reply.error().code, text}});
  }
  Json json = Json::parse(reply->body, nullptr, false);
  if (reply->status < 200 || reply->status > 299) {
    const Error error = error_in(*reply, json);
    return std::unexpected(
        CallFailure{.unreachable = false, .error = error, .body = std::move(json)});
  }
  if (json.is_discarded()) {
    return std::unexpected(CallFailure{
        .unreachable = false, .error = {Code::kInvalid, "the router's answer is not JSON"}});
  }
  return json;
}

}  // namespace cleave::app
