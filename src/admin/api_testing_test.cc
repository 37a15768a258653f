#include "admin/api_testing.h"

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

void RecordingOperator::undo(MoveId move, Done<MoveId> done) {
  note("undo " + std::to_string(move.value()), done, MoveId{18});
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

void RecordingOperator::approve(Done<std::uint64_t> done) {
  note("approve", done, std::uint64_t{2});
}

void RecordingOperator::add_node(ring::Node node, Done<NodeId> done) {
  note("add " + node.name + (node.hash_key.empty() ? "" : " as " + node.hash_key) + " " +
           node.members.front().address + " x" + std::to_string(node.weight),
       done, NodeId{3});
}

void RecordingOperator::drain_node(NodeId node, Done<void> done) {
  note("drain " + std::to_string(node.value()), done);
}

void RecordingOperator::remove_node(NodeId node, Done<void> done) {
  note("remove " + std::to_string(node.value()), done);
}

void RecordingOperator::flatten(Done<std::uint64_t> done) {
  note("flatten", done, std::uint64_t{4});
}

void RecordingOperator::survey(Done<std::vector<control::NodeFacts>> done) {
  control::NodeFacts facts;
  facts.node = NodeId{1};
  facts.reachable = true;
  facts.keys = 5;
  note("survey", done, std::vector{facts});
}

void RecordingOperator::adopt(std::vector<NodeId> nodes, Done<void> done) {
  std::string text = "adopt";
  for (const NodeId node : nodes) text += " " + std::to_string(node.value());
  note(text, done);
}

std::vector<proxy::NodeHealth> RecordingRouter::health() const {
  return {{.node = NodeId{1}, .up = true, .error = "", .identity = {}},
          {.node = NodeId{2}, .up = false, .error = "connection refused", .identity = {}}};
}

void RecordingRouter::stats(std::function<void(proxy::RouterStats)> done) {
  proxy::RouterStats stats;
  stats.clients = 1;
  stats.requests = 42;
  stats.hold_ms_histogram = {3, 1, 0, 0, 2, 1};
  done(stats);
}

}  // namespace cleave::admin
