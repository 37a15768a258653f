// The orders about strays of admin/api.h.
#include <optional>
#include <utility>

#include "admin/answers.h"
#include "admin/api.h"
#include "admin/body.h"
#include "base/hex.h"

namespace cleave::admin {
namespace {

std::vector<control::StrayDump> read_keys(Body& body) {
  std::vector<control::StrayDump> dumps;
  for (Body& part : body.objects("keys")) {
    const std::optional<std::string> key = from_hex(part.text("key_hex", Body::Need::kRequired));
    const std::optional<Token> hash = part.token("hash");
    if (!key) part.fail("field 'key_hex': want pairs of hexadecimal digits");
    if (!hash) part.fail("field 'hash' is missing");
    if (key && hash)
      dumps.push_back({.key = *key, .payload = {}, .hash = hash->value(), .expires_at_ms = 0});
    body.absorb(part);
  }
  return dumps;
}

}  // namespace

bool Api::post_strays(const net::HttpRequest& request, const std::string& verb, const Done& done) {
  if (verb == "remove") {
    post_strays_remove(request, done);
    return true;
  }
  if (verb == "accept") {
    options_.order_taker.strays().accept_strays(when_counted(done, "strays"));
    return true;
  }
  if (verb != "move" && verb != "read") return false;
  post_strays_page(request, verb, done);
  return true;
}

void Api::post_strays_page(const net::HttpRequest& request, const std::string& verb,
                           const Done& done) {
  Body body(request.body);
  const std::string name = body.text("node", Body::Need::kRequired);
  const std::string cursor = body.text("cursor", Body::Need::kOptional);
  if (const Result<void> read = body.finish(); !read) return done(error_response(read.error()));
  const std::optional<NodeId> node = known_node(name, done);
  if (!node) return;
  if (verb == "read") {
    options_.order_taker.strays().read_strays(
        {.node = *node, .cursor = cursor}, [done](const Result<control::StrayDumps>& dumps) {
          done(dumps ? ok(render_dumps(*dumps)) : error_response(dumps.error()));
        });
    return;
  }
  options_.order_taker.strays().move_strays(
      {.node = *node, .cursor = cursor}, [done](const Result<control::StraysHandled>& handled) {
        done(handled ? ok(render_handled(*handled)) : error_response(handled.error()));
      });
}

void Api::post_strays_remove(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  const std::string name = body.text("node", Body::Need::kRequired);
  std::vector<control::StrayDump> dumps = read_keys(body);
  if (const Result<void> read = body.finish(); !read) return done(error_response(read.error()));
  const std::optional<NodeId> node = known_node(name, done);
  if (!node) return;
  options_.order_taker.strays().remove_strays(
      *node, std::move(dumps), [done](const Result<control::StraysHandled>& handled) {
        done(handled ? ok(render_handled(*handled)) : error_response(handled.error()));
      });
}

}  // namespace cleave::admin
