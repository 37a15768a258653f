#include "admin/past_decisions.h"

#include <algorithm>
#include <iterator>

namespace cleave::admin {
namespace {

std::int64_t time_of(const Json& decision) { return decision.value("at_ms", std::int64_t{0}); }

bool is_decision(const Json& json) {
  if (!json.is_object()) return false;
  const auto at = json.find("at_ms");
  const auto kind = json.find("kind");
  return at != json.end() && at->is_number_integer() && kind != json.end() && kind->is_string();
}

bool earlier(const Json& a, const Json& b) { return time_of(a) < time_of(b); }

// Whether it is among these, which are sorted by time: whole decisions are compared only where the
// times are the same.
template <class Sorted>
bool is_among(const Sorted& sorted, const Json& decision) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), decision, earlier);
  return std::find(first, last, decision) != last;
}

}  // namespace

std::vector<Json> PastDecisions::learn(const Json& decisions) {
  std::vector<Json> fresh;
  if (!decisions.is_array()) return fresh;
  for (const Json& each : decisions) {
    if (!is_decision(each) || is_among(kept_, each)) continue;
    fresh.push_back(each);
  }
  std::ranges::stable_sort(fresh, earlier);
  for (const Json& each : fresh) {
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), each, earlier), each);
    if (kept_.size() > kKept) kept_.pop_front();
  }
  return fresh;
}

Json PastDecisions::with(const Json& own) const {
  std::vector<Json> all(own.begin(), own.end());
  std::vector<Json> sorted = all;
  std::ranges::stable_sort(sorted, earlier);
  for (auto past = kept_.rbegin(); past != kept_.rend(); ++past) {
    if (!is_among(sorted, *past)) all.push_back(*past);
  }
  std::ranges::stable_sort(all, [](const Json& a, const Json& b) { return earlier(b, a); });
  if (all.size() > kKept) all.resize(kKept);
  return all;
}

UnixMillis PastDecisions::newest() const {
  return UnixMillis{kept_.empty() ? 0 : time_of(kept_.back())};
}

}  // namespace cleave::admin
