#include "admin/order_log.h"

#include <algorithm>
#include <utility>

namespace cleave::admin {
namespace {

constexpr std::size_t kRecordsMax = 100;

}  // namespace

std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::kWaiting: return "waiting";
    case Fate::kDone: return "done";
    case Fate::kRefused: return "refused";
    case Fate::kNotDone: return "not-done";
    case Fate::kUnknown: return "unknown";
  }
  return "unknown";
}

std::string OrderLog::next_id() { return name_ + "-" + std::to_string(next_++); }

void OrderLog::begin(OrderRecord record) {
  records_.push_front(std::move(record));
  if (records_.size() > kRecordsMax) records_.pop_back();
}

void OrderLog::settle(const std::string& id, Fate fate, std::string why, UnixMillis now) {
  const auto found = std::ranges::find(records_, id, &OrderRecord::id);
  if (found == records_.end()) return;
  found->fate = fate;
  found->why = std::move(why);
  found->settled = now;
}

void OrderLog::session_over(UnixMillis now) {
  for (OrderRecord& record : records_) {
    if (record.fate != Fate::kWaiting) continue;
    record.fate = Fate::kUnknown;
    record.why = "its router lost its session before it was known";
    record.settled = now;
  }
}

void OrderLog::forget(const std::string& id) {
  std::erase_if(records_, [&](const OrderRecord& record) { return record.id == id; });
}

}  // namespace cleave::admin
