#include "app/demo/demo_run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/demo/load_thread.h"
#include "app/signals.h"
#include "app/text/progress.h"
#include "control/orders/status.h"

namespace cleave::app {
namespace {

constexpr milliseconds kTableLook{500};
constexpr double kWindowSeconds = 5;  // over which a spread is judged
constexpr double kAfterSeconds = 10;  // how long it is watched once even

// What was measured at one moment of the measured phase.
struct Sample {
  double at = 0;  // seconds since the onset
  Amounts amounts;
};

// Follows one run from the onset to the end.
class Story {
 public:
  Story(const DemoOptions& options, const DemoPool& pool, const Scenario& scenario,
        LoadThread& load)
      : options_(options), pool_(pool), scenario_(scenario), load_(load) {}

  Result<DemoResult> follow();

 private:
  Result<void> wait_for_onset(Progress& progress);
  // One look at everything; false when it is over.
  Result<bool> look(Progress& progress);
  void first_move_seen(const Sample& sample);
  std::uint64_t keys_moved_least() const;
  void judge(const Sample& sample);
  Spread between(const Sample& from, const Sample& to) const;
  // The spread of the last `seconds`, once so long has passed since `since`.
  std::optional<Spread> last(double seconds, double since) const;
  void finish();
  void add_moves(const control::Status& status);
  void add_holds(const proxy::RouterStats& stats);

  const DemoOptions& options_;
  const DemoPool& pool_;
  const Scenario& scenario_;
  LoadThread& load_;
  DemoResult result_;
  std::vector<Sample> samples_;
  Instant onset_{};
  std::size_t cuts_at_onset_ = 0;
  std::optional<double> moving_since_;
  SystemClock clock_;
};

Result<DemoResult> Story::follow() {
  Progress progress;
  result_.unit = scenario_.unit;
  result_.onset = scenario_.onset;
  result_.keys_total = options_.keys;
  result_.keys_moved_least = scenario_.keys_moved_least;
  const Result<void> begun = wait_for_onset(progress);
  if (!begun) return std::unexpected(begun.error());
  if (scenario_.lower_bound) result_.lower_bound = scenario_.lower_bound(load_.shares());
  result_.target = std::max(1.10, 1.05 * result_.lower_bound);
  while (true) {
    const Result<bool> going_on = look(progress);
    if (!going_on) return std::unexpected(going_on.error());
    if (!*going_on) break;
    if (stop_wanted(kTableLook)) break;
  }
  progress.show("checking every key");
  finish();
  return result_;
}

Result<void> Story::wait_for_onset(Progress& progress) {
  while (load_.phase() != loadgen::Phase::kRunning) {
    if (load_.done()) return fail(Code::kUnavailable, "the load ended before it began");
    const loadgen::Generator::Progress filled = load_.progress();
    progress.show("writing keys", filled.done, filled.of);
    if (stop_wanted(milliseconds{50})) return fail(Code::kUnavailable, "stopped");
  }
  cuts_at_onset_ = pool_.router().status().view->document().cuts.size();
  if (scenario_.begin) {
    if (const Result<void> begun = scenario_.begin(); !begun) return begun;
  }
  onset_ = clock_.now();
  return {};
}

Result<bool> Story::look(Progress& progress) {
  Sample sample;
  Result<Amounts> amounts = scenario_.measure();
  if (!amounts) return std::unexpected(amounts.error());
  sample.amounts = std::move(*amounts);
  sample.at = std::chrono::duration<double>(clock_.now() - onset_).count();
  samples_.push_back(sample);
  const control::Status status = pool_.router().status();
  const bool moves = !status.moves.empty() || !status.ended.empty();
  if (moves && !moving_since_) first_move_seen(sample);
  judge(sample);
  const std::optional<Spread> now = last(kWindowSeconds, 0);
  progress.show(std::to_string(static_cast<int>(sample.at)) + " s: the node with most at " +
                std::to_string(now ? now->peak_over_mean() : 0.0) + " of the mean, " +
                std::to_string(status.ended.size()) + " moves done");
  const bool long_enough =
      result_.seconds_to_converge >= 0 && sample.at >= result_.seconds_to_converge + kAfterSeconds;
  return !long_enough && load_.phase() == loadgen::Phase::kRunning;
}

void Story::first_move_seen(const Sample& sample) {
  moving_since_ = sample.at;
  result_.p99_us_before = load_.take_latency().quantile(990'000);
  // A move that is seen has copied something already: where there is a moment, that of the onset.
  result_.before = between(samples_.front(), scenario_.counted ? sample : samples_.front());
  if (scenario_.amount_of_key_max > 0) result_.keys_moved_least = keys_moved_least();
}

// What lies above the target must go, by the largest keys.
std::uint64_t Story::keys_moved_least() const {
  std::uint64_t total = 0;
  for (const auto& [node, amount] : result_.before.amounts) total += amount;
  const double most = result_.target * static_cast<double>(total) /
                      static_cast<double>(result_.before.amounts.size());
  double excess = 0;
  for (const auto& [node, amount] : result_.before.amounts) {
    excess += std::max(0.0, static_cast<double>(amount) - most);
  }
  return static_cast<std::uint64_t>(excess / static_cast<double>(scenario_.amount_of_key_max));
}

// Even: since the first move, over a whole window.
void Story::judge(const Sample& sample) {
  if (!moving_since_ || result_.seconds_to_converge >= 0) return;
  const std::optional<Spread> now = last(kWindowSeconds, *moving_since_);
  if (!now || now->peak_over_mean() > result_.target) return;
  if (scenario_.settled && !scenario_.settled()) return;
  result_.seconds_to_converge = sample.at;
  result_.p99_us_during = load_.take_latency().quantile(990'000);
}

std::optional<Spread> Story::last(double seconds, double since) const {
  const double from = samples_.back().at - seconds;
  if (from < since) return std::nullopt;
  const auto first =
      std::ranges::find_if(samples_, [from](const Sample& sample) { return sample.at >= from; });
  return between(*first, samples_.back());
}

Spread Story::between(const Sample& from, const Sample& to) const {
  if (!scenario_.counted) return {.amounts = to.amounts, .seconds = 0};
  Spread spread{.amounts = {}, .seconds = to.at - from.at};
  for (const auto& [node, amount] : to.amounts) {
    const auto before = from.amounts.find(node);
    spread.amounts[node] = amount - (before == from.amounts.end() ? 0 : before->second);
  }
  return spread;
}

void Story::finish() {
  if (!moving_since_) first_move_seen(samples_.back());
  if (result_.seconds_to_converge < 0) {
    result_.p99_us_during = load_.take_latency().quantile(990'000);
  }
  result_.after = last(kAfterSeconds, 0).value_or(between(samples_.front(), samples_.back()));
  load_.stop();
  result_.load = load_.wait();
  add_moves(pool_.router().status());
  add_holds(pool_.router().stats());
}

void Story::add_moves(const control::Status& status) {
  const ring::Document& document = status.view->document();
  const auto name = [&](NodeId id) {
    const ring::Node* node = ring::find_node(document, id);
    return node == nullptr ? std::string("?") : node->name;
  };
  for (const control::MoveRecord& record : status.ended) {
    if (record.end != control::MoveEnd::kCommitted) {
      if (record.end == control::MoveEnd::kAborted) ++result_.moves_aborted;
      continue;
    }
    result_.keys_moved += record.keys_copied;
    result_.moves.insert(result_.moves.begin(), {.source = name(record.move.source),
                                                 .destination = name(record.move.destination),
                                                 .reason = record.move.reason,
                                                 .keys = record.keys_copied});
  }
  result_.cuts = document.cuts.size() - std::min(document.cuts.size(), cuts_at_onset_);
}

// Steps of 1 ms; the upper end of the step is told.
void Story::add_holds(const proxy::RouterStats& stats) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : stats.hold_ms_histogram) total += count;
  result_.requests_held = total;
  const auto quantile = [&](std::uint64_t per_hundred) {
    std::uint64_t seen = 0;
    for (std::size_t step = 0; step < stats.hold_ms_histogram.size(); ++step) {
      seen += stats.hold_ms_histogram[step];
      if (seen * 100 >= total * per_hundred) return static_cast<double>(step + 1);
    }
    return 0.0;
  };
  if (total == 0) return;
  result_.fence_hold_ms_p50 = quantile(50);
  result_.fence_hold_ms_p99 = quantile(99);
}

}  // namespace

double Spread::peak_over_mean() const {
  std::uint64_t total = 0;
  std::uint64_t most = 0;
  for (const auto& [node, amount] : amounts) {
    total += amount;
    most = std::max(most, amount);
  }
  if (total == 0) return 0;
  return static_cast<double>(most) * static_cast<double>(amounts.size()) /
         static_cast<double>(total);
}

bool DemoResult::good() const {
  return load.clean() && seconds_to_converge >= 0 && after.peak_over_mean() <= target;
}

loadgen::Generator::Options demo_load(const DemoOptions& options,
                                      std::vector<net::Address> addresses) {
  loadgen::Generator::Options load;
  load.addresses = std::move(addresses);
  load.clients = options.clients;
  load.keys.count = options.keys;
  load.counter_share = 100;
  load.erasable_share = 100;
  load.duration = milliseconds{options.seconds * 1'000};
  load.requests_per_second = options.rate;
  load.seed = options.seed;
  return load;
}

Result<DemoResult> run_demo(const DemoOptions& options, const DemoPool& pool, Scenario scenario) {
  LoadThread load(scenario.load);
  return Story(options, pool, scenario, load).follow();
}

}  // namespace cleave::app
