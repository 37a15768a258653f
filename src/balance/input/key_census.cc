#include "balance/input/key_census.h"

#include <algorithm>
#include <iterator>

#include "base/ppm.h"
#include "base/rng.h"
#include "base/wide.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kWeightMaxPpm = 4'000'000'000;  // for 4,000 keys: below 2^32

std::uint64_t size_of(const MetKey& key) { return key.bytes + KeyCensus::kKeyBytes; }

// The name's hash alone is the token of a key without hash tag: keys of low tokens would be kept
// more often.
std::uint64_t draw_of(const MetKey& key) { return Rng(key.name_hash).next(); }

// The threshold up to which a key of this size and name is kept: size / u, where u is its draw
// from (0, 1].
Wide keeps_until(const MetKey& key) {
  return (Wide{size_of(key)} << 64U) / (Wide{draw_of(key)} + 1);
}

}  // namespace

bool KeyCensus::above_threshold(const MetKey& key) const {
  return keeps_until(key) >= threshold_bytes_;
}

void KeyCensus::add(std::span<const MetKey> page, Instant now) {
  std::vector<Kept> met;
  for (const MetKey& each : page) {
    if (above_threshold(each)) met.push_back({each, now});
  }
  const auto name = [](const Kept& each) { return each.key.name_hash; };
  std::ranges::sort(met, {}, name);
  const auto again = std::ranges::unique(met, {}, name);
  met.erase(again.begin(), again.end());
  std::vector<Kept> all;
  all.reserve(kept_.size() + met.size());
  auto fresh = met.cbegin();
  for (const Kept& each : kept_) {
    while (fresh != met.cend() && name(*fresh) < name(each)) all.push_back(*fresh++);
    const bool met_again = fresh != met.cend() && name(*fresh) == name(each);
    if (met_again || each.met + kForget < now) continue;  // the newer one follows
    all.push_back(each);
  }
  std::copy(fresh, met.cend(), std::back_inserter(all));
  kept_ = std::move(all);
  sample_of_ = Epoch{};
  if (kept_.size() > kKept) thin_out();
  // Far too few: the next keys that are met fill up what the threshold kept out.
  if (kept_.size() < kKept / 4) threshold_bytes_ /= 2;
}

// An eighth goes at once, so that this is not to be done for each page.
void KeyCensus::thin_out() {
  std::vector<Wide> until;
  until.reserve(kept_.size());
  for (const Kept& each : kept_) until.push_back(keeps_until(each.key));
  const auto last = until.begin() + (kKept - kKept / 8);
  std::ranges::nth_element(until, last, std::ranges::greater{});
  threshold_bytes_ = static_cast<std::uint64_t>(std::min(*last, Wide{~std::uint64_t{0}}));
  std::erase_if(kept_, [this](const Kept& each) { return !above_threshold(each.key); });
}

std::uint32_t KeyCensus::weight_ppm(const MetKey& key) const {
  if (size_of(key) >= threshold_bytes_) return kMillion;
  const Wide weight = Wide{threshold_bytes_} * kMillion / size_of(key);
  return static_cast<std::uint32_t>(std::min(weight, Wide{kWeightMaxPpm}));
}

const std::vector<KeySample>& KeyCensus::sample(const ring::RingView& view, NodeId node) {
  if (sample_of_ == view.epoch()) return sample_;
  sample_.clear();
  for (const Kept& each : kept_) {
    if (view.owner(each.key.token) != node) continue;
    sample_.push_back(
        {.token = each.key.token, .bytes = each.key.bytes, .weight_ppm = weight_ppm(each.key)});
  }
  std::ranges::sort(sample_);
  sample_of_ = view.epoch();
  return sample_;
}

std::uint64_t keys_to_meet(std::span<const KeySample> sample, std::uint64_t keys,
                           std::uint64_t wanted) {
  std::uint64_t met_ppm = 0;
  for (const KeySample& each : sample) met_ppm += each.weight_ppm;
  return above(std::min(ppm_of(keys, KeyCensus::kEnoughPpm), wanted), met_ppm / kMillion);
}

std::vector<NodeId> hurried_walks(std::vector<NodeFacts>& nodes, const Constants& constants,
                                  UnixMillis now) {
  constexpr std::uint64_t kKeysASecond = WalkPace::kPageKeys * WalkPace::kHurryPages;
  Wide used = 0;
  Wide limit = 0;
  for (const NodeFacts& each : nodes) {
    if (each.memory_bytes_max == 0) continue;
    used += each.memory_bytes;
    limit += each.memory_bytes_max;
  }
  std::vector<NodeId> hurried;
  for (NodeFacts& each : nodes) {
    const Wide stop = used * constants.memory_stop_ppm / kMillion;
    if (each.memory_bytes_max == 0) continue;
    if (Wide{each.memory_bytes} * limit <= stop * each.memory_bytes_max) continue;
    if (keys_to_meet(each.key_sample, each.keys, KeyCensus::kMostKeys) == 0) continue;
    hurried.push_back(each.id);
    const std::uint64_t left = keys_to_meet(each.key_sample, each.keys);
    if (left == 0) continue;
    const std::uint64_t waits = left / kKeysASecond + 1;
    each.sample_due = UnixMillis{now.value() + static_cast<std::int64_t>(waits) * 1'000};
  }
  return hurried;
}

}  // namespace cleave::balance
