#include "admin/api_testing.h"

#include <algorithm>
#include <sstream>

namespace cleave::admin {
namespace {

ring::Document two_nodes() {
  ring::Creation creation;
  creation.pool = "main";
  creation.mark = "m";
  creation.nodes = {
      {.id = {}, .name = "a", .members = {{.address = "127.0.0.1:7001", .rack = ""}}},
      {.id = {}, .name = "b", .members = {{.address = "127.0.0.1:7002", .rack = ""}}}};
  creation.now = UnixMillis{1'000};
  return *ring::create(creation);
}

std::string text_of(const ring::TokenRange& range) {
  return ring::to_hex(range.first) + "-" + ring::to_hex(range.last);
}

}  // namespace

net::HttpRequest request_of(const std::string& method, const std::string& target,
                            const std::string& body, const std::string& authorization) {
  net::HttpRequest request;
  request.method = method;
  request.target = target;
  request.path = target.substr(0, target.find('?'));
  std::istringstream pairs(target.substr(std::min(request.path.size() + 1, target.size())));
  for (std::string pair; std::getline(pairs, pair, '&');) {
    request.query[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  }
  request.headers = {{"content-type", "application/json"}, {"authorization", authorization}};
  request.body = body;
  return request;
}

net::HttpResponse answer_to(Api& api, const net::HttpRequest& request) {
  net::HttpResponse answer{.status = 0, .body = ""};
  int answers = 0;
  api.handle(request, [&](net::HttpResponse response) {
    answer = std::move(response);
    ++answers;
  });
  EXPECT_EQ(answers, 1) << request.method << " " << request.target;
  return answer;
}

RecordingOperator::RecordingOperator() {
  state.view = *ring::RingView::build(two_nodes());
  state.session = SessionId{"router-1"};
  state.leader = true;
  state.coordinator = "ok";
}

template <class T>
void RecordingOperator::note(std::string order, const Done<T>& done, T value) {
  orders.push_back(std::move(order));
  if (answer) {
    done(std::move(value));
  } else {
    done(std::unexpected(answer.error()));
  }
}

void RecordingOperator::note(std::string order, const Done<void>& done) {
  orders.push_back(std::move(order));
  done(answer);
}

void RecordingOperator::move(ring::MoveRequest request, Done<MoveId> done) {
  std::string text = "move";
  for (const ring::TokenRange& range : request.ranges) text += " " + text_of(range);
  note(text + " from " + std::to_string(request.source.value()) + " to " +
           std::to_string(request.destination.value()) + ": " + request.reason,
       done, MoveId{17});
}

void RecordingOperator::abort(MoveId move, Done<void> done) {
  note("abort " + std::to_string(move.value()), done);
}

void RecordingOperator::take_back(MoveId move, Done<MoveId> done) {
  note("take back " + std::to_string(move.value()), done, MoveId{19});
}

void RecordingOperator::give_up(MoveId move, GiveUp how, Done<void> done) {
  const char* what = how == GiveUp::kClean      ? "give up "
                     : how == GiveUp::kCleanAll ? "give up all of "
                                                : "forget leftover ";
  note(what + std::to_string(move.value()), done);
}

void RecordingOperator::allow_old_readers(Done<void> done) { note("downgrade", done); }

void RecordingOperator::abort_all(Then then, Done<std::uint64_t> done) {
  note(then == Then::kFreeze ? "abort all, freeze" : "abort all", done, std::uint64_t{3});
}

void RecordingOperator::cut(control::CutOrder order, Done<void> done) {
  const std::int64_t until = order.pinned_until.value();
  note("cut at " + ring::to_hex(order.at) + ": " + order.reason +
           (until == 0 ? "" : " until " + std::to_string(until)),
       done);
}

void RecordingOperator::presplit(control::PresplitOrder order, Done<control::Presplit> done) {
  std::string text = order.dry_run ? "rehearse" : "announce";
  if (order.force) text += " by force";
  control::Presplit presplit{.at = UnixMillis{5'000}};
  for (const control::Announcement& event : order.events) {
    text += " " + event.name + " " + std::to_string(event.lead_from.value()) + "/" +
            std::to_string(event.start.value()) + "/" + std::to_string(event.end.value());
    for (const control::Demand& demand : event.demands) {
      text += " [";
      for (const ring::TokenRange& range : demand.ranges) text += text_of(range) + " ";
      text += std::to_string(demand.requests) + "r " + std::to_string(demand.bytes) + "b " +
              demand.command + " " + std::to_string(demand.load) + "ns]";
    }
    presplit.events.push_back(control::event_of(event, {}));
  }
  presplit.plan.moves = {{.ranges = {{Token{1}, Token{9}}},
                          .source = NodeId{1},
                          .destination = NodeId{2},
                          .cause = balance::Cause::kPresplit,
                          .reason = "expected: sale",
                          .load = 10,
                          .keys = 3,
                          .bytes = 300,
                          .alternatives = {{NodeId{1}, "it lacks memory"}}}};
  for (const ring::ExpectedEvent& event : presplit.events) {
    for (const ring::ExpectedLoad& each : event.loads)
      presplit.plan.heavy.push_back({.token = each.range.first, .node = NodeId{1}});
  }
  note(std::move(text), done, std::move(presplit));
}

void RecordingOperator::forget(std::string event, Done<void> done) {
  note("forget " + event, done);
}

void RecordingOperator::merge(ring::TokenRange range, Done<void> done) {
  note("merge " + text_of(range), done);
}

void RecordingOperator::freeze(bool frozen, Done<void> done) {
  note(frozen ? "freeze" : "resume", done);
}

void RecordingOperator::set_mode(ring::Mode mode, Done<void> done) {
  note("mode " + std::string(ring::to_string(mode)), done);
}

void RecordingOperator::approve(std::string plan, Done<std::uint64_t> done) {
  note("approve " + plan, done, std::uint64_t{2});
}

void RecordingOperator::add_node(ring::Node node, Done<NodeId> done) {
  note("add " + node.name + (node.hash_key.empty() ? "" : " as " + node.hash_key) + " " +
           node.members.front().address + " x" + std::to_string(node.weight),
       done, NodeId{3});
}

void RecordingOperator::drain_node(NodeId node, Done<void> done) {
  note("drain " + std::to_string(node.value()), done);
}

void RecordingOperator::undrain_node(NodeId node, Done<void> done) {
  note("undrain " + std::to_string(node.value()), done);
}

void RecordingOperator::set_weight(NodeId node, std::uint32_t weight, Done<void> done) {
  note("weight " + std::to_string(node.value()) + " " + std::to_string(weight), done);
}

void RecordingOperator::remove_node(NodeId node, control::Force force, Done<void> done) {
  const bool forced = force == control::Force::kYes;
  note("remove " + std::to_string(node.value()) + (forced ? " by force" : ""), done);
}

void RecordingOperator::flatten(Done<std::uint64_t> done) {
  note("flatten", done, std::uint64_t{4});
}

void RecordingOperator::survey(Done<control::Survey> done) {
  control::SurveyedNode node;
  node.facts.node = NodeId{1};
  node.facts.reachable = true;
  node.facts.keys = 5;
  node.facts.strays = {
      .known = true,
      .count = {
          .keys = 5, .strays = 2, .whole = true, .examples = {{.key = "k1", .owner = NodeId{2}}}}};
  node.facts.databases = {{.number = 3, .keys = 7}};
  node.facts.scripts = {{.command = "eval", .calls = 12}};
  const ring::SchemeFit fit{.scheme = {.name = "modulo", .options = {{"hash", "crc32"}}},
                            .hashed = "their names",
                            .keys = 5,
                            .elsewhere = 0};
  note("survey", done, control::Survey{.nodes = {node}, .fits = fit});
}

void RecordingOperator::adopt(control::AdoptOrder order, Done<void> done) {
  std::string text = order.force == control::Force::kYes ? "adopt by force" : "adopt";
  for (const NodeId node : order.nodes) text += " " + std::to_string(node.value());
  note(text, done);
}

void RecordingOperator::list_strays(Done<control::StrayList> done) {
  control::StrayList list;
  list.nodes.push_back({.node = NodeId{1},
                        .error = "",
                        .count = {.keys = 9,
                                  .strays = 1,
                                  .whole = true,
                                  .examples = {{.key = "\xffk", .owner = NodeId{2}}}}});
  note("list strays", done, std::move(list));
}

void RecordingOperator::move_strays(control::StrayPage from, Done<control::StraysHandled> done) {
  note("move strays of " + std::to_string(from.node.value()) + " from '" + from.cursor + "'", done,
       control::StraysHandled{
           .handled = 4, .kept = {{.key = "k", .why = "its owner has one"}}, .next = "12"});
}

void RecordingOperator::read_strays(control::StrayPage from, Done<control::StrayDumps> done) {
  note("read strays of " + std::to_string(from.node.value()) + " from '" + from.cursor + "'", done,
       control::StrayDumps{.dumps = {{.key = "k",
                                      .payload = std::string("\x00\xff", 2),
                                      .hash = 0xABC,
                                      .expires_at_ms = 9}},
                           .kept = {},
                           .next = ""});
}

void RecordingOperator::remove_strays(NodeId node, std::vector<control::StrayDump> dumps,
                                      Done<control::StraysHandled> done) {
  std::string text = "remove strays of " + std::to_string(node.value());
  for (const control::StrayDump& dump : dumps)
    text += " " + dump.key + "/" + ring::to_hex(Token{dump.hash});
  note(std::move(text), done,
       control::StraysHandled{.handled = dumps.size(), .kept = {}, .next = ""});
}

void RecordingOperator::accept_strays(Done<std::uint64_t> done) {
  note("accept strays", done, std::uint64_t{7});
}

std::vector<proxy::NodeHealth> RecordingRouter::health() const {
  return {{.node = NodeId{1}, .up = true, .error = "", .identity = {}},
          {.node = NodeId{2},
           .up = false,
           .error = "connection refused",
           .identity = {.incarnation = {"run-b", "repl"}, .version = ""}}};
}

void RecordingRouter::stats(std::function<void(proxy::RouterStats)> done) {
  proxy::RouterStats stats;
  stats.clients = 1;
  stats.requests = 42;
  stats.hold_ms_histogram = {3, 1, 0, 0, 2, 1};
  done(stats);
}

ProcessUsage RecordingRouter::usage() const {
  return {.version = "1.2.3",
          .started = UnixMillis{4'000},
          .cpu = milliseconds{1'250},
          .resident_bytes = 8'000'000,
          .open_files = 17,
          .open_files_max = 1'024};
}

}  // namespace cleave::admin
