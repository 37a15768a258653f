// SimCoordinator: the coordination service of a simulated world, and a process's register on it.
//
// What coord/memory cannot do, this does: answers that are late or lost, a compare-and-set that
// happened though nobody heard of it, an outage, partitions (it is a host of the network),
// notifications that are late, skipped or repeated, leases that a failover forgets or extends.
// Linearizable all the same: a call takes effect at one instant, after its begin and, where it is
// answered, before its answer. Except after `restore`.
//
// Threads: one.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coord/register.h"
#include "sim/sim_loop.h"

namespace cleave::sim {

// How slow the coordinator is.
struct CoordinatorOptions {
  nanoseconds latency_min = microseconds{100};
  nanoseconds latency_max = milliseconds{2};
  nanoseconds watch_max = milliseconds{5};   // a watcher hears of a change so late
  nanoseconds patience = milliseconds{500};  // after that an answer counts as lost (kTimeout)
  std::uint32_t lost_one_of = 0;    // answers; half of their requests were lost too. 0: none
  std::uint32_t repeat_one_of = 8;  // notifications come twice. 0: none
};

class SimCoordinator {
 public:
  static constexpr const char* kHost = "10.0.0.1";

  // Every change that took effect, in order.
  using Observer = std::function<void(const coord::Stored&)>;

  SimCoordinator(Scheduler& scheduler, Network& network, Observer observer);

  void set_options(const CoordinatorOptions& options) { options_ = options; }
  const CoordinatorOptions& options() const { return options_; }
  void heal() { stopped_until_ = Instant{0}; }
  // Until then every call is refused.
  void stop_until(Instant when) { stopped_until_ = when; }
  // A failover: the new one knows of no lease, or gives each a new term.
  void forget_leases() { leases_.clear(); }
  void extend_leases(nanoseconds by);
  // From an old backup.
  void restore(coord::Stored old) { stored_ = std::move(old); }
  const coord::Stored& stored() const { return stored_; }
  // What routers had asked and not yet been answered, at most, beyond what they may have: a line
  // for each that did. One read and one compare-and-set at a time, and what keeps its lease and
  // asks for the others' as often as that wants; what is not answered is given up after a while.
  const std::vector<std::string>& crowds() const { return crowds_; }
  // Of the lease that routers keep.
  void set_lease(milliseconds lease) { lease_ = lease; }
  // Compare-and-sets that were tried, lost races included.
  std::uint64_t writes_tried() const { return writes_tried_; }

 private:
  friend class SimRegister;

  nanoseconds latency();
  nanoseconds up_to(nanoseconds bound);
  bool stopped() const;
  Result<Epoch> replace(Epoch expected, Epoch next, std::string text);

  Scheduler& scheduler_;
  Network& network_;
  Observer observer_;
  CoordinatorOptions options_;
  Rng rng_;
  Instant stopped_until_{0};
  std::uint64_t writes_tried_ = 0;
  coord::Stored stored_;
  std::map<SessionId, Instant> leases_;
  std::uint64_t next_watcher_ = 1;
  std::map<std::uint64_t, std::function<void()>> watchers_;
  milliseconds lease_{3'000};
  std::vector<std::string> crowds_;
};

// One process's access to the coordinator.
class SimRegister final : public coord::Register {
 public:
  SimRegister(SimCoordinator& coordinator, SimLoop& loop)
      : coordinator_(coordinator), loop_(loop) {}
  ~SimRegister() override { coordinator_.watchers_.erase(watcher_); }

  void read(Done<coord::Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void begin(Epoch first, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const coord::Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  // What is asked; each kind is counted by itself.
  enum class Asked : std::uint8_t { kRead, kWrite, kLease, kAlive };
  // `effect` runs at the coordinator; its result reaches `done`, or is lost on the way.
  template <class T>
  void call(Asked asked, std::function<Result<T>()> effect, Done<T> done);
  template <class T>
  Done<T> counted(Asked asked, Done<T> done);
  std::size_t open_max(Asked asked) const;
  using Changed = std::shared_ptr<std::function<void(const coord::Stored&)>>;
  void tell_watcher(const Changed& changed);
  void deliver(const Changed& changed, const coord::Stored& read);

  SimCoordinator& coordinator_;
  SimLoop& loop_;
  std::uint64_t watcher_ = 0;
  std::array<std::size_t, 4> open_{};                        // by what is asked
  std::shared_ptr<Epoch> told_ = std::make_shared<Epoch>();  // newest that the watcher heard of
};

}  // namespace cleave::sim
