// The orders of admin/api.h.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "admin/answers.h"
#include "admin/api.h"
#include "admin/body.h"
#include "base/node_name.h"
#include "base/shown.h"
#include "base/to_number.h"

namespace cleave::admin {
namespace {

// Of those that are stored, the newest: in which a move to be undone is looked for.
constexpr std::size_t kDecisionsSearched = 5'000;

// The one node that owns all of the ranges.
Result<NodeId> only_owner(const ring::RingView& view, const std::vector<ring::TokenRange>& ranges) {
  std::optional<NodeId> owner;
  for (const ring::Entry& entry : view.entries()) {
    for (const ring::TokenRange& range : ranges) {
      if (!entry.range.overlaps(range) || owner == entry.node) continue;
      if (owner) {
        return fail(Code::kInvalid, "the ranges belong to " + name_of(view.document(), *owner) +
                                        " and to " + name_of(view.document(), entry.node) +
                                        "; a move has one source, so order one move for each");
      }
      owner = entry.node;
    }
  }
  return *owner;
}

std::vector<ring::Member> read_members(Body& body) {
  std::vector<ring::Member> members;
  for (const std::string& text : body.texts("members")) {
    const Result<net::Address> address = net::parse_address(text);
    if (!address) body.fail("field 'members': " + address.error().message);
    members.push_back({.address = text, .rack = ""});
  }
  if (members.empty()) body.fail("field 'members': want a list of addresses, the primary first");
  return members;
}

// What a person should know before the move is done: writes that came past the routers can be lost.
Json bypass_warnings(const control::Status& status, const ring::MoveRequest& order) {
  Json warnings = Json::array();
  for (const control::NodeFacts& facts : status.nodes) {
    const bool takes_part = facts.node == order.source || facts.node == order.destination;
    if (!takes_part || !facts.foreign_writes) continue;
    warnings.push_back("about " + std::to_string(facts.unattributed_writes) +
                       " writes a second reach node '" +
                       name_of(status.view->document(), facts.node) +
                       "' past the routers: those to the keys that move can be lost; stop them, or "
                       "abort the move");
  }
  return warnings;
}

}  // namespace

void Api::post_move(const net::HttpRequest& request, const Done& done) {
  const control::Status status = options_.order_taker.status();
  Body body(request.body);
  ring::MoveRequest order;
  order.ranges = body.ranges("ranges");
  const std::string key = from_shown(body.text("key", Body::Need::kOptional));
  const std::string to = body.text("to", Body::Need::kRequired);
  order.reason = body.text("reason", Body::Need::kOptional);
  if (body.has("key") == body.has("ranges")) body.fail("want either 'ranges' or 'key'");
  const Result<void> read = body.finish();
  if (!read || status.view == nullptr) {
    done(error_response(read ? no_view(status) : read.error()));
    return;
  }
  if (body.has("key")) {
    const Token token = status.view->token_of(key);
    order.ranges = {{.first = token, .last = token}};
  }
  if (order.reason.empty()) order.reason = "ordered by a person";
  const Result<NodeId> source = only_owner(*status.view, order.ranges);
  const Result<NodeId> destination = node_named(status.view->document(), to);
  if (!source || !destination) {
    done(error_response(source ? destination.error() : source.error()));
    return;
  }
  order.source = *source;
  order.destination = *destination;
  order.now = options_.wall_now();
  Json warnings = bypass_warnings(status, order);
  options_.order_taker.moves().move(std::move(order), when_begun(done, std::move(warnings)));
}

void Api::post_clean(const net::HttpRequest& request, MoveId move, const Done& done) {
  using GiveUp = control::MoveOrders::GiveUp;
  Body body(request.body);
  const bool all = body.flag("last_copies");
  if (const Result<void> read = body.finish(); !read) return done(error_response(read.error()));
  options_.order_taker.moves().give_up(move, all ? GiveUp::kCleanAll : GiveUp::kClean,
                                       when_done(done));
}

bool Api::post_move_order(const net::HttpRequest& request, const std::string& id,
                          const std::string& verb, const Done& done) {
  const std::optional<std::uint64_t> number = to_number<std::uint64_t>(id);
  control::Operator& order_taker = options_.order_taker;
  if (!number) {
    done(error_response({Code::kInvalid, "a move's id is a number, got '" + id + "'"}));
  } else if (verb == "abort") {
    order_taker.moves().abort(MoveId{*number}, when_done(done));
  } else if (verb == "undo") {
    undo(MoveId{*number}, done);
  } else if (verb == "take-back") {
    order_taker.moves().take_back(MoveId{*number}, when_begun(done));
  } else if (verb == "clean") {
    post_clean(request, MoveId{*number}, done);
  } else if (verb == "forget") {
    order_taker.moves().give_up(MoveId{*number}, control::MoveOrders::GiveUp::kForget,
                                when_done(done));
  } else {
    return false;
  }
  return true;
}

bool Api::post_moves(const net::HttpRequest& request, const Parts& parts, const Done& done) {
  using Then = control::MoveOrders::Then;
  if (parts == Parts{"moves"}) {
    post_move(request, done);
  } else if (parts == Parts{"moves", "abort"}) {
    options_.order_taker.moves().abort_all(Then::kGoOn, when_counted(done, "moves"));
  } else if (parts == Parts{"moves", "undo"}) {
    post_undo(request, done);
  } else if (parts.size() == 3) {
    return post_move_order(request, parts[1], parts[2], done);
  } else {
    return false;
  }
  return true;
}

void Api::post_undo(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  std::vector<ring::TokenRange> ranges = body.ranges("ranges");
  if (ranges.empty()) body.fail("field 'ranges' is missing");
  if (const Result<void> read = body.finish(); !read) return done(error_response(read.error()));
  undo(ring::normalised(std::move(ranges)), done);
}

// Which move it was is known of this router's own time as the leader, from the leaders before it,
// or from the file.
void Api::undo(const Meant& meant, const Done& done) {
  const control::Status status = options_.order_taker.status();
  if (status.view == nullptr) return done(error_response(no_view(status)));
  const auto known = find_committed(status, options_.router.past_decisions(), meant);
  if (known) return move_back(*known, done);
  if (options_.history == nullptr) return done(error_response(no_committed(meant)));
  options_.history->decisions(
      UnixMillis{0}, kDecisionsSearched,
      [this, meant, done](const Result<std::vector<history::StoredDecision>>& stored) {
        std::optional<CommittedMove> found;
        if (stored) found = find_committed(render_stored(*stored)["decisions"], meant);
        found ? move_back(*found, done) : done(error_response(no_committed(meant)));
      });
}

void Api::move_back(const CommittedMove& move, const Done& done) {
  const control::Status status = options_.order_taker.status();
  if (status.view == nullptr) return done(error_response(no_view(status)));
  Result<WayBack> back = way_back(move, *status.view, options_.wall_now());
  if (!back) return done(error_response(back.error()));
  Json warnings = bypass_warnings(status, back->request);
  if (!back->whole) {
    warnings.push_back("a part of what move " + std::to_string(move.id.value()) +
                       " moved has another owner since, and stays there");
  }
  options_.order_taker.moves().move(std::move(back->request),
                                    when_begun(done, std::move(warnings)));
}

void Api::post_freeze(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  const bool abort = body.flag("abort");
  if (const Result<void> read = body.finish(); !read) return done(error_response(read.error()));
  if (abort) {
    options_.order_taker.moves().abort_all(control::MoveOrders::Then::kFreeze,
                                           when_counted(done, "moves"));
  } else {
    options_.order_taker.pool().freeze(true, when_done(done));
  }
}

// Where the plan is another one now, the answer shows it.
void Api::post_approve(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  const std::string plan = body.text("plan", Body::Need::kOptional);
  if (plan.empty())
    body.fail("field 'plan' is missing: the id that GET /plan and `cleave plan` show");
  if (const Result<void> read = body.finish(); !read) return done(error_response(read.error()));
  options_.order_taker.moves().approve(plan, [this, done](const Result<std::uint64_t>& begun) {
    if (begun) return done(ok({{"moves", *begun}}));
    net::HttpResponse refused = error_response(begun.error());
    const control::Status status = options_.order_taker.status();
    if (begun.error().code == Code::kConflict && status.view != nullptr) {
      Json json = Json::parse(refused.body);
      json["plan"] = render_plan(status);
      refused.body = to_body(json);
    }
    done(std::move(refused));
  });
}

void Api::post_cut(const net::HttpRequest& request, const Done& done) {
  const control::Status status = options_.order_taker.status();
  Body body(request.body);
  const std::optional<Token> at = body.token("at");
  const std::string key = from_shown(body.text("key", Body::Need::kOptional));
  control::CutOrder order;
  order.reason = body.text("reason", Body::Need::kOptional);
  order.pinned_until = body.time("pinned_until_ms").value_or(UnixMillis{});
  if (body.has("at") == body.has("key")) body.fail("want either 'at' or 'key'");
  const Result<void> read = body.finish();
  if (!read || status.view == nullptr) {
    done(error_response(read ? no_view(status) : read.error()));
    return;
  }
  order.at = at ? *at : status.view->token_of(key);
  if (order.reason.empty()) order.reason = "ordered by a person";
  options_.order_taker.ranges().cut(std::move(order), when_done(done));
}

void Api::post_merge(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  const std::optional<ring::TokenRange> range = body.range("range");
  if (!range) body.fail("field 'range' is missing");
  if (const Result<void> read = body.finish(); !read) {
    done(error_response(read.error()));
    return;
  }
  options_.order_taker.ranges().merge(*range, when_done(done));
}

void Api::post_mode(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  const std::string text = body.text("mode", Body::Need::kRequired);
  const Result<void> read = body.finish();
  const Result<ring::Mode> mode = ring::parse_mode(text);
  if (!read || !mode) {
    done(error_response(read ? mode.error() : read.error()));
    return;
  }
  options_.order_taker.pool().set_mode(*mode, when_done(done));
}

bool Api::post_nodes(const net::HttpRequest& request, const Parts& parts, const Done& done) {
  using control::Operator;
  if (request.method == "DELETE") {
    if (parts.size() != 2) return false;
    delete_node(request, parts[1], done);
  } else if (parts.size() == 1) {
    post_node(request, done);
  } else if (parts.size() == 3 && parts[2] == "drain") {
    post_drain(parts[1], done);
  } else if (parts.size() == 3 && parts[2] == "undrain") {
    const std::optional<NodeId> node = known_node(parts[1], done);
    if (node) options_.order_taker.nodes().undrain_node(*node, when_done(done));
  } else if (parts.size() == 3 && parts[2] == "weight") {
    post_weight(parts[1], request, done);
  } else {
    return false;
  }
  return true;
}

void Api::post_weight(const std::string& name, const net::HttpRequest& request, const Done& done) {
  const control::Status status = options_.order_taker.status();
  Body body(request.body);
  const std::optional<std::uint64_t> weight = body.number("weight", 1, ring::kWeightMax);
  if (!weight) body.fail("field 'weight' is missing");
  const Result<void> read = body.finish();
  if (!read || status.view == nullptr)
    return done(error_response(read ? no_view(status) : read.error()));
  const Result<NodeId> node = node_named(status.view->document(), name);
  if (!node) return done(error_response(node.error()));
  options_.order_taker.nodes().set_weight(*node, static_cast<std::uint32_t>(*weight),
                                          when_done(done));
}

void Api::post_node(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  ring::Node node;
  node.name = body.text("name", Body::Need::kRequired);
  node.hash_key = body.text("hash_key", Body::Need::kOptional);
  node.weight = static_cast<std::uint32_t>(body.number("weight", 1, 1'000).value_or(1));
  node.members = read_members(body);
  const auto force = body.flag("force") ? control::Force::kYes : control::Force::kNo;
  if (!is_node_name(node.name)) {
    body.fail("field 'name': " + std::string(kNodeNameRule) + ", got '" + shown(node.name) + "'");
  }
  if (const Result<void> read = body.finish(); !read) {
    done(error_response(read.error()));
    return;
  }
  identify(node, [this, node, force, done](const RunIds& servers) {
    const Result<void> fit = check_newcomer(node, servers, force);
    if (!fit) return done(error_response(fit.error()));
    add_node(node, done);
  });
}

void Api::identify(const ring::Node& node, const std::function<void(const RunIds&)>& done) {
  struct Asked {
    RunIds servers;
    std::size_t open = 0;
  };
  const auto asked = std::make_shared<Asked>();
  asked->open = node.members.size();
  asked->servers.assign(node.members.size(), std::string());
  for (std::size_t i = 0; i < node.members.size(); ++i) {
    // Read once in `read_members` already.
    const auto address = net::parse_address(node.members[i].address).value_or(net::Address{});
    options_.router.identify(address, [asked, i, done](Result<std::string> run_id) {
      asked->servers[i] = std::move(run_id);
      if (--asked->open == 0) done(asked->servers);
    });
  }
}

void Api::add_node(ring::Node node, const Done& done) {
  options_.order_taker.nodes().add_node(std::move(node), [done](const Result<NodeId>& id) {
    done(id ? ok({{"node", id->value()}}) : error_response(id.error()));
  });
}

// A server that does not answer, or is in the pool under another name, is a slip of the finger. The
// first may be meant, the second never is; where the texts alone tell it, `ring::add_node` refuses.
Result<void> Api::check_newcomer(const ring::Node& node, const RunIds& servers,
                                 control::Force force) const {
  const Result<std::string>& primary = servers.front();
  if (!primary && force == control::Force::kNo) {
    return fail(Code::kConflict, "the server at " + node.members.front().address +
                                     " does not serve: " + primary.error().message +
                                     "; to add it all the same: 'force' (cleave node add --force)");
  }
  const control::Status status = options_.order_taker.status();
  std::map<std::string, std::string> known;
  for (const proxy::NodeHealth& each : options_.router.health()) {
    if (status.view == nullptr) continue;
    known.emplace(each.identity.incarnation.run_id,
                  "in the pool already: it is node " + name_of(status.view->document(), each.node));
  }
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!servers[i] || servers[i]->empty()) continue;
    const std::string& address = node.members[i].address;
    const auto [found, is_new] = known.emplace(*servers[i], "the one at " + address + " too");
    if (!is_new) return fail(Code::kConflict, "the server at " + address + " is " + found->second);
  }
  return {};
}

std::optional<NodeId> Api::known_node(const std::string& name, const Done& done) {
  const control::Status status = options_.order_taker.status();
  if (status.view == nullptr) {
    done(error_response(no_view(status)));
    return std::nullopt;
  }
  const Result<NodeId> node = node_named(status.view->document(), name);
  if (node) return *node;
  done(error_response(node.error()));
  return std::nullopt;
}

// What would be left behind when the node has been drained is told with the answer.
void Api::post_drain(const std::string& name, const Done& done) {
  const std::optional<NodeId> node = known_node(name, done);
  if (!node) return;
  options_.order_taker.nodes().drain_node(*node, [this, node, done](const Result<void>& drained) {
    if (!drained) return done(error_response(drained.error()));
    Json answer = {{"ok", true}};
    const control::Status status = options_.order_taker.status();
    const auto facts = std::ranges::find(status.nodes, *node, &control::NodeFacts::node);
    if (facts != status.nodes.end() && facts->strays.known)
      answer["left_behind"] = render_strays(facts->strays, facts->keys, status.view->document());
    done(ok(answer));
  });
}

void Api::delete_node(const net::HttpRequest& request, const std::string& name, const Done& done) {
  const std::optional<NodeId> node = known_node(name, done);
  if (!node) return;
  const auto force = request.query.contains("force") ? control::Force::kYes : control::Force::kNo;
  options_.order_taker.nodes().remove_node(*node, force, when_done(done));
}

void Api::post_adopt(const net::HttpRequest& request, const Done& done) {
  const control::Status status = options_.order_taker.status();
  Body body(request.body);
  const std::vector<std::string> names = body.texts("nodes");
  const bool force = body.flag("force");
  const bool anew = body.flag("new_ring");
  const Result<void> read = body.finish();
  const auto forced = force ? control::Force::kYes : control::Force::kNo;
  if (read && anew && status.view == nullptr)
    return adopt_anew({.nodes = {}, .force = forced}, done);
  if (!read || status.view == nullptr) {
    done(error_response(read ? no_view(status) : read.error()));
    return;
  }
  std::vector<NodeId> nodes;
  for (const ring::Node& node : status.view->document().nodes) {
    if (names.empty()) nodes.push_back(node.id);
  }
  for (const std::string& name : names) {
    const Result<NodeId> node = node_named(status.view->document(), name);
    if (!node) {
      done(error_response(node.error()));
      return;
    }
    nodes.push_back(*node);
  }
  control::AdoptOrder order{.nodes = std::move(nodes), .force = forced};
  if (anew) return adopt_anew(std::move(order), done);
  options_.order_taker.strays().adopt(std::move(order), when_done(done));
}

}  // namespace cleave::admin
