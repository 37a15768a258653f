#include "heat/recorder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "base/wide.h"
#include "heat/space_saving.h"

namespace cleave::heat {
namespace {

constexpr std::uint64_t kSamplesPerSecond = 2'000;
constexpr std::size_t kSamplesMax = 8'192;   // of one interval; then every other one is dropped
constexpr std::size_t kReportsMax = 16;      // kept for a `take` that does not come
constexpr std::size_t kHotKeysPerNode = 16;  // of one report
constexpr std::uint32_t kThinningMax = 1U << 20U;
constexpr nanoseconds kAdaptMin = milliseconds{100};  // a shorter interval says nothing of the rate

}  // namespace

class Recorder::Impl {
 public:
  Impl(std::uint64_t seed, Instant now) : name_(seed), rng_(seed), since_(now) {}

  void set_view(ring::RingSnapshot view, Instant now);
  std::vector<Report> take(Instant now);
  void record_script(Token token) { scripts_.note(token); }

  void record(ring::RangeIndex index, Token token, std::string_view key, Access access,
              std::uint32_t weight_ns) {
    CHECK(index.value() < counters_.size());
    Counter& counter = counters_[index.value()];
    ++counter.requests;
    counter.writes += access == Access::kWrite ? 1U : 0U;
    counter.weight_ns += weight_ns;
    if (--skip_ == 0) sample(counter, token, key, weight_ns);
  }

 private:
  // Two of these share a cache line.
  struct Counter {
    std::uint64_t requests = 0;
    std::uint64_t writes = 0;
    std::uint64_t weight_ns = 0;
    std::uint32_t keys = 0;  // index of the node's SpaceSaving
  };

  void sample(const Counter& counter, Token token, std::string_view key, std::uint32_t weight_ns);
  void draw_skip();
  void halve_samples();
  void close_interval(Instant now);
  void adapt(std::uint64_t requests, nanoseconds covers);

  std::uint64_t name_;
  Rng rng_;
  Instant since_;
  ring::RingSnapshot view_;
  std::vector<Counter> counters_;  // one an entry of the view
  std::uint32_t skip_ = 1;         // requests until the next sampled one
  std::uint32_t thinning_ = 1;
  std::vector<Sample> samples_;
  std::vector<std::pair<NodeId, SpaceSaving>> keys_;  // sorted by node
  ScriptMarks scripts_;
  std::vector<Report> closed_;
  std::uint64_t sequence_ = 0;
};

Recorder::Recorder(std::uint64_t seed, Instant now) : impl_(std::make_unique<Impl>(seed, now)) {}
Recorder::~Recorder() = default;

void Recorder::set_view(ring::RingSnapshot view, Instant now) {
  impl_->set_view(std::move(view), now);
}

void Recorder::record(ring::RangeIndex index, Token token, std::string_view key, Access access,
                      std::uint32_t weight_ns) {
  impl_->record(index, token, key, access, weight_ns);
}

void Recorder::record_script(Token token) { impl_->record_script(token); }

std::vector<Report> Recorder::take(Instant now) { return impl_->take(now); }

void Recorder::Impl::set_view(ring::RingSnapshot view, Instant now) {
  CHECK(view != nullptr);
  if (view_ != nullptr) close_interval(now);
  view_ = std::move(view);
  since_ = now;
  std::map<NodeId, std::uint32_t> index_of;
  for (const ring::Entry& entry : view_->entries()) index_of.emplace(entry.node, 0U);
  keys_.clear();
  for (auto& [node, index] : index_of) {
    index = static_cast<std::uint32_t>(keys_.size());
    keys_.emplace_back(node, SpaceSaving{});
  }
  counters_.assign(view_->entries().size(), {});
  for (std::size_t at = 0; at < counters_.size(); ++at) {
    counters_[at].keys = index_of[view_->entries()[at].node];
  }
}

std::vector<Report> Recorder::Impl::take(Instant now) {
  if (view_ != nullptr) close_interval(now);
  return std::exchange(closed_, {});
}

void Recorder::Impl::sample(const Counter& counter, Token token, std::string_view key,
                            std::uint32_t weight_ns) {
  CHECK(counter.keys < keys_.size());
  draw_skip();
  samples_.push_back({token, weight_ns});
  keys_[counter.keys].second.add(key, token, std::uint64_t{weight_ns} * thinning_);
  if (samples_.size() >= kSamplesMax) halve_samples();
}

// Uniform in 1 .. 2 x thinning - 1: every request is as likely as every other to be sampled, and no
// rhythm of the traffic can stay in step with the sampling.
void Recorder::Impl::draw_skip() {
  CHECK(thinning_ > 0 && thinning_ <= kThinningMax);
  skip_ = 1 + static_cast<std::uint32_t>(rng_.below(std::uint64_t{thinning_} * 2 - 1));
}

void Recorder::Impl::halve_samples() {
  std::erase_if(samples_, [this](const Sample&) { return rng_.chance(1, 2); });
  thinning_ = std::min(thinning_ * 2, kThinningMax);
}

void Recorder::Impl::close_interval(Instant now) {
  CHECK(view_ != nullptr && counters_.size() == view_->entries().size());
  Report report{.recorder = name_,
                .sequence = ++sequence_,
                .epoch = view_->epoch(),
                .covers = std::max(now - since_, nanoseconds{0}),
                .thinning = thinning_,
                .sums = {},
                .samples = std::exchange(samples_, {}),
                .hot_keys = {},
                .scripts = scripts_.take(now)};
  std::uint64_t requests = 0;
  for (std::size_t at = 0; at < counters_.size(); ++at) {
    Counter& counter = counters_[at];
    if (counter.requests == 0) continue;
    CHECK(counter.writes <= counter.requests);
    const ring::Entry& entry = view_->entries()[at];
    report.sums.push_back({.range = entry.range,
                           .node = entry.node,
                           .requests = counter.requests,
                           .writes = counter.writes,
                           .weight_ns = counter.weight_ns});
    requests += counter.requests;
    counter = {.requests = 0, .writes = 0, .weight_ns = 0, .keys = counter.keys};
  }
  for (auto& [node, keys] : keys_) {
    const std::vector<HotKey> top = keys.top(node, kHotKeysPerNode);
    report.hot_keys.insert(report.hot_keys.end(), top.begin(), top.end());
    keys.clear();
  }
  adapt(requests, report.covers);
  since_ = now;
  if (closed_.size() >= kReportsMax) closed_.erase(closed_.begin());
  closed_.push_back(std::move(report));
}

void Recorder::Impl::adapt(std::uint64_t requests, nanoseconds covers) {
  if (covers < kAdaptMin) return;
  const Wide per_second =
      Wide{requests} * 1'000'000'000U / static_cast<std::uint64_t>(covers.count());
  const Wide wanted = per_second / kSamplesPerSecond;
  thinning_ = static_cast<std::uint32_t>(std::clamp(wanted, Wide{1}, Wide{kThinningMax}));
  draw_skip();
}

}  // namespace cleave::heat
