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

std::vector<std::string> History::violations() const {
  std::vector<std::string> texts;
  for (const auto& [key, ops] : by_key_) {
    if (excused_.contains(key)) continue;
    std::vector<Op> relevant;
    for (const Op& op : ops)
      if (op.happened || op.kind != OpKind::kRead) relevant.push_back(op);
    const Verdict verdict = check_linearizable(relevant);
    if (!verdict.linearizable) texts.push_back("key " + key + ": " + verdict.explanation);
  }
  return texts;
}

}  // namespace cleave::sim
