// A Register in memory: for tests, and for the simulator, which makes it slow, absent and forgetful.
//
//   MemoryStore            what is stored; one, shared by all registers
//   MemoryRegister (loop)  one process's access to it; calls travel there and back through
//                          `Faults`, which says how long each way takes and what gets lost
//
// Linearizable: each operation takes effect at one moment between its call and its answer.
// Threads: one thread for a store and all its registers (a simulated world, or one loop).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "coord/register.h"
#include "net/loop.h"

namespace cleave::coord {

// What happens to one call on its way.
struct Passage {
  nanoseconds there{0};  // until it takes effect
  nanoseconds back{0};   // from there to the answer
  bool reaches = true;   // false: it never takes effect; answered kUnavailable after `there`
  bool answered = true;  // false: it takes effect, and the answer is kTimeout
};

class MemoryRegister;

class MemoryStore {
 public:
  // Asked for each call. May be empty: no delay, nothing lost.
  using Faults = std::function<Passage(const MemoryRegister&)>;

  explicit MemoryStore(Faults faults = nullptr) : faults_(std::move(faults)) {}

  const Stored& stored() const { return stored_; }
  // For tests of what must never happen: an old backup is put back, an operator writes by hand.
  void overwrite(Stored stored);

 private:
  friend class MemoryRegister;

  Passage passage(const MemoryRegister& from) const;
  void changed();

  Faults faults_;
  Stored stored_;
  std::map<SessionId, Instant> leases_;
  std::vector<MemoryRegister*> registers_;
};

class MemoryRegister final : public Register {
 public:
  MemoryRegister(net::Loop& loop, std::shared_ptr<MemoryStore> store);
  ~MemoryRegister() override;
  MemoryRegister(const MemoryRegister&) = delete;
  MemoryRegister& operator=(const MemoryRegister&) = delete;

  void read(Done<Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  friend class MemoryStore;

  // `effect` runs at the store, `done` here with what it returned.
  template <class T>
  void call(std::function<Result<T>(MemoryStore&)> effect, Done<T> done);
  void announce();

  net::Loop& loop_;
  std::shared_ptr<MemoryStore> store_;
  std::function<void(const Stored&)> watcher_;
  Epoch announced_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::coord
