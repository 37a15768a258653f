// MemoryRegister: the register inside one process, for tests and the simulator.
//
//   MemoryRegister (loop 1) --+
//   MemoryRegister (loop 2) --+--> MemoryStore        calls travel through Faults: late, lost
//   MemoryRegister (loop 3) --+                       or refused, on the way there or back
//
// A call takes effect at one instant between its begin and its answer, so the whole is
// linearizable. What is under way when a MemoryRegister dies still takes effect, as a sent message
// would.
//
// Threads: a MemoryStore may be shared by registers on loops of several threads; each register
// belongs to its loop. Times of leases are the loops' `now()`, which must be one clock.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "coord/register.h"
#include "net/loop.h"

namespace cleave::coord {

// What becomes of each call; the simulator draws it from its seed.
class Faults {
 public:
  enum class Call : std::uint8_t { kRead, kCompareAndSet, kKeepAlive, kEndLease, kAlive, kWatch };
  enum class Loss : std::uint8_t {
    kNone,
    kRefused,  // no effect; answered with kUnavailable
    kRequest,  // no effect; answered with kTimeout
    kReply,    // has its effect; answered with kTimeout
  };
  struct Fate {
    nanoseconds there{0};  // from the call to its effect
    nanoseconds back{0};   // from its effect to the answer
    Loss loss = Loss::kNone;
  };

  virtual ~Faults() = default;
  // Asked once for each call, on the register's loop. For kWatch (one notification) only the
  // delays count.
  virtual Fate fate(Call call) = 0;
};

// The shared state. Threads: any.
class MemoryStore {
 public:
  Stored read() const;
  // Errors: kConflict.
  Result<Epoch> compare_and_set(Epoch expected, const std::string& text);
  Result<Epoch> begin(Epoch first, const std::string& text);
  void keep_alive(const SessionId& session, Instant until);
  void end_lease(const SessionId& session);
  std::vector<SessionId> alive(Instant now) const;

  // `changed` runs within each compare_and_set that succeeds, under the store's lock: it must only
  // post. After `unsubscribe` it does not run any more.
  std::uint64_t subscribe(std::function<void(const Stored&)> changed);
  void unsubscribe(std::uint64_t subscription);

 private:
  Result<Epoch> replace(Epoch expected, Epoch next, const std::string& text);

  mutable std::mutex mutex_;
  Stored stored_;                        // all guarded by mutex_
  std::map<SessionId, Instant> leases_;  // session -> when it runs out
  std::map<std::uint64_t, std::function<void(const Stored&)>> subscriptions_;
  std::uint64_t last_subscription_ = 0;
};

class MemoryRegister final : public Register {
 public:
  // `faults` may be nullptr: nothing goes wrong, answers come by `post`. It must outlive the
  // register.
  MemoryRegister(net::Loop& loop, std::shared_ptr<MemoryStore> store, Faults* faults = nullptr);
  ~MemoryRegister() override;
  MemoryRegister(const MemoryRegister&) = delete;
  MemoryRegister& operator=(const MemoryRegister&) = delete;

  void read(Done<Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void begin(Epoch first, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  struct Watcher;  // also the token by which late answers see that the register is gone

  template <class T>
  void call(Faults::Call what, std::function<Result<T>()> effect, Done<T> done);
  Faults::Fate fate(Faults::Call what) const;

  net::Loop& loop_;
  std::shared_ptr<MemoryStore> store_;
  Faults* faults_;
  std::shared_ptr<Watcher> watcher_;
  std::uint64_t subscription_ = 0;
};

}  // namespace cleave::coord
