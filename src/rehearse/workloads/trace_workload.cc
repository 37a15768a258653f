#include "rehearse/workloads/trace_workload.h"

#include <algorithm>
#include <utility>

#include "balance/input/input.h"
#include "base/ppm.h"
#include "base/wide.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint64_t kRequestNs = 8'000;
constexpr std::uint64_t kByteNs = 1;
constexpr std::uint64_t kKeyOverhead = 64;  // bytes that a server needs for a key besides
constexpr seconds kReplayedLeast{60};
constexpr seconds kAveraged{600};  // past the slow trigger, which waits for five minutes

class TraceWorkload final : public Workload {
 public:
  TraceWorkload(Trace trace, TraceSetting setting)
      : trace_(std::move(trace)), setting_(std::move(setting)) {
    for (const TraceRequest& each : trace_.requests) cost_ += request_ns(each.bytes);
    span_ = std::chrono::floor<seconds>(trace_.requests.back().at) + seconds{1};
  }

  std::vector<NodeSpec> nodes() const override { return setting_.nodes; }
  ring::SchemeSpec scheme() const override { return setting_.scheme; }
  bool rests() const override { return setting_.time == TraceSetting::Time::kAveraged; }
  seconds duration() const override {
    return rests() ? kAveraged : std::max(span_, kReplayedLeast);
  }

  Change set(seconds at, Scene& scene) override {
    if (at == seconds{0}) set_keys(scene);
    if (rests() && at != seconds{0}) return {};
    for (SceneKey& each : scene.keys) each.weight = 0;
    std::uint64_t cost = 0;
    const auto [first, last] = requests_at(at);
    for (std::size_t request = first; request < last; ++request) {
      const std::uint64_t each = request_ns(trace_.requests[request].bytes);
      scene.keys[places_[trace_.requests[request].key]].weight += each;
      cost += each;
    }
    const auto steps = rests() ? 1 : static_cast<std::uint64_t>(span_.count());
    scene.load = static_cast<std::uint64_t>(Wide{usual_load()} * cost * steps / cost_);
    return {.loads = true, .turn = at == seconds{0}};
  }

 private:
  void set_keys(Scene& scene) {
    scene.read_ppm = read_ppm(trace_);
    scene.keys.clear();
    for (const TraceKey& each : trace_.keys) {
      scene.keys.push_back(make_key(each.name, each.bytes + each.name.size() + kKeyOverhead));
      scene.keys.back().token = each.token;
    }
    std::vector<std::uint32_t> order(scene.keys.size());
    for (std::uint32_t at = 0; at < order.size(); ++at) order[at] = at;
    std::ranges::sort(order, [&](std::uint32_t left, std::uint32_t right) {
      const SceneKey& a = scene.keys[left];
      const SceneKey& b = scene.keys[right];
      return a.token != b.token ? a.token < b.token : a.name < b.name;
    });
    places_.resize(order.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) places_[order[place]] = place;
    sort_keys(scene.keys);
  }

  // Of this second; all of them for a load that rests.
  std::pair<std::size_t, std::size_t> requests_at(seconds at) const {
    if (rests()) return {0, trace_.requests.size()};
    const auto place = [&](seconds time) {
      const auto found =
          std::ranges::lower_bound(trace_.requests, nanoseconds{time}, {}, &TraceRequest::at);
      return static_cast<std::size_t>(found - trace_.requests.begin());
    };
    const seconds inside{at.count() % span_.count()};
    return {place(inside), place(inside + seconds{1})};
  }

  // Nanoseconds a second, on average.
  std::uint64_t usual_load() const {
    Wide capacity = 0;
    for (const NodeSpec& each : setting_.nodes) capacity += Wide{each.weight} * balance::kCore;
    return static_cast<std::uint64_t>(capacity * setting_.utilisation_ppm / kMillion);
  }

  Trace trace_;
  TraceSetting setting_;
  std::uint64_t cost_ = 0;  // of all requests, before it is scaled
  seconds span_{1};
  std::vector<std::uint32_t> places_;  // of the trace's keys in the scene
};

}  // namespace

std::uint64_t request_ns(std::uint64_t bytes) { return kRequestNs + bytes * kByteNs; }

std::uint32_t read_ppm(const Trace& trace) {
  if (trace.requests.empty()) return 0;
  const auto reads = static_cast<std::uint64_t>(
      std::ranges::count(trace.requests, heat::Access::kRead, &TraceRequest::access));
  return static_cast<std::uint32_t>(reads * kMillion / trace.requests.size());
}

Result<std::unique_ptr<Workload>> make_trace_workload(Trace trace, TraceSetting setting) {
  if (trace.requests.empty()) {
    std::string message = "the trace has no request that names a key";
    if (!trace.faults.empty()) {
      message += "; line " + std::to_string(trace.faults[0].line) + ": " + trace.faults[0].why;
    }
    return fail(Code::kInvalid, std::move(message));
  }
  if (setting.nodes.empty()) return fail(Code::kInvalid, "a trace needs nodes to run on");
  return std::make_unique<TraceWorkload>(std::move(trace), std::move(setting));
}

}  // namespace cleave::rehearse
