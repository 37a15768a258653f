#include "sim/world/history.h"

#include <utility>

namespace cleave::sim {

OpRef History::begin(const std::string& key, Op op) {
  std::vector<Op>& ops = by_key_[key];
  op.happened = false;  // until its reply is there
  ops.push_back(std::move(op));
  ++operations_;
  return {key, ops.size() - 1};
}

void History::end(const OpRef& ref, Instant when, std::optional<std::int64_t> result) {
  Op& op = by_key_[ref.key][ref.index];
  op.happened = true;
  op.returned = when;
  op.result = result;
  if (op.kind != OpKind::kRead) ++writes_acknowledged_;
}

void History::lose(const OpRef& ref) {
  by_key_[ref.key][ref.index].happened = false;
  ++unknown_;
}

void History::refuse(const OpRef& ref) {
  Op& op = by_key_[ref.key][ref.index];
  op.happened = false;
  op.kind = OpKind::kRead;  // a read without result says nothing
}

void History::expect_expiry(const OpRef& write, Instant earliest, Instant latest) {
  std::vector<Op>& ops = by_key_[write.key];
  const Op& op = ops[write.index];
  Op expiry{.kind = OpKind::kExpire,
            .argument = op.argument,
            .called = earliest,
            .returned = op.happened ? latest : kForever,
            .happened = op.happened,
            .who = "time"};
  ops.push_back(std::move(expiry));
}

void History::lost_at_server(const std::string& key, Instant when, std::int64_t value) {
  ++lost_at_servers_;
  holds(key, when, value, "loss at the server");
}

void History::outlived(const std::string& key, Instant when, std::int64_t value) {
  holds(key, when, value, "the destination's clock");
}

void History::holds(const std::string& key, Instant when, std::int64_t value,
                    const std::string& who) {
  std::vector<Op>& ops = by_key_[key];
  ops.push_back({.kind = value == kAbsent ? OpKind::kDelete : OpKind::kSet,
                 .argument = value,
                 .called = when,
                 .returned = when,
                 .who = who});
  // What came back may have a time of its own.
  if (value != kAbsent)
    ops.push_back({.kind = OpKind::kExpire,
                   .argument = value,
                   .called = when,
                   .happened = false,
                   .who = "time"});
}

std::vector<std::string> History::violations() const {
  std::vector<std::string> texts;
  for (const auto& [key, ops] : by_key_) {
    std::vector<Op> relevant;
    for (const Op& op : ops)
      if (op.happened || op.kind != OpKind::kRead) relevant.push_back(op);
    const Ruling ruling = check_linearizable(relevant);
    if (!ruling.linearizable) texts.push_back("key " + key + ": " + ruling.explanation);
  }
  return texts;
}

}  // namespace cleave::sim
