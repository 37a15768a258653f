#include "admin/answers.h"

#include "base/shown.h"

namespace cleave::admin {
namespace {

int http_status(Code code) {
  switch (code) {
    case Code::kInvalid: return 400;
    case Code::kNotFound: return 404;
    case Code::kConflict: return 409;
    case Code::kExhausted: return 429;
    case Code::kUnavailable: return 503;
    case Code::kTimeout: return 504;
  }
  return 500;
}

}  // namespace

net::HttpResponse ok(const Json& json) { return {.status = 200, .body = to_body(json)}; }

net::HttpResponse error_response(const Error& error) {
  return plain_error(http_status(error.code), to_string(error.code), error.message);
}

net::HttpResponse plain_error(int status, std::string_view code, std::string_view message) {
  return {.status = status, .body = to_body({{"error", {{"code", code}, {"message", message}}}})};
}

std::function<void(Result<void>)> when_done(const Answer& done) {
  return [done](const Result<void>& result) {
    done(result ? ok({{"ok", true}}) : error_response(result.error()));
  };
}

std::function<void(Result<std::uint64_t>)> when_counted(const Answer& done, const char* name) {
  return [done, name](const Result<std::uint64_t>& result) {
    done(result ? ok({{name, *result}}) : error_response(result.error()));
  };
}

std::function<void(Result<MoveId>)> when_begun(const Answer& done, Json warnings) {
  return [done, warnings = std::move(warnings)](const Result<MoveId>& result) {
    if (!result) {
      done(error_response(result.error()));
      return;
    }
    Json json = {{"move", result->value()}};
    if (!warnings.empty()) json["warnings"] = warnings;
    net::HttpResponse response = ok(json);
    response.status = 202;
    done(std::move(response));
  };
}

Error no_view(const control::Status& status) {
  if (!status.held.empty()) return {Code::kUnavailable, status.held};
  const std::string why = status.coordinator == "ok" ? "" : " (" + status.coordinator + ")";
  return {Code::kUnavailable, "the ring document was not read yet" + why + "; ask again"};
}

Error no_server(const control::Status& status, const std::vector<proxy::NodeHealth>& health) {
  constexpr std::size_t kNamed = 8;
  std::string why = "no server has told its commands yet";
  for (std::size_t i = 0; i < health.size() && i < kNamed; ++i) {
    const std::string name = name_of(status.view->document(), health[i].node);
    why += "; node " + name + ": " + (health[i].up ? "asked" : health[i].error);
  }
  if (health.size() > kNamed) why += "; and so on";
  return {Code::kUnavailable, printable(why)};
}

Result<NodeId> node_named(const ring::Document& document, const std::string& name) {
  const ring::Node* node = ring::find_node(document, name);
  if (node != nullptr) return node->id;
  std::string known;
  for (const ring::Node& each : document.nodes) known += (known.empty() ? "" : ", ") + each.name;
  return fail(Code::kNotFound, "no node is named '" + name + "'; there are " + known);
}

}  // namespace cleave::admin
