#include "coord/memory/memory_register.h"

#include <algorithm>
#include <utility>

namespace cleave::coord {

Passage MemoryStore::passage(const MemoryRegister& from) const {
  return faults_ ? faults_(from) : Passage{};
}

void MemoryStore::overwrite(Stored stored) {
  stored_ = std::move(stored);
  changed();
}

void MemoryStore::changed() {
  for (MemoryRegister* one : registers_) one->announce();
}

MemoryRegister::MemoryRegister(net::Loop& loop, std::shared_ptr<MemoryStore> store)
    : loop_(loop), store_(std::move(store)) {
  store_->registers_.push_back(this);
}

MemoryRegister::~MemoryRegister() { std::erase(store_->registers_, this); }

template <class T>
void MemoryRegister::call(std::function<Result<T>(MemoryStore&)> effect, Done<T> done) {
  const Passage passage = store_->passage(*this);
  const auto answer = [this, alive = std::weak_ptr<void>(alive_), passage,
                       done = std::move(done)](Result<T> result) {
    if (alive.expired()) return;
    if (!passage.answered) result = fail(Code::kTimeout, "the coordinator did not answer");
    loop_.after(passage.back, [alive, done, result = std::move(result)] {
      if (!alive.expired()) done(result);
    });
  };
  // What is under way goes on without its caller, as it would in a network.
  loop_.after(passage.there, [store = store_, passage, effect = std::move(effect), answer] {
    if (!passage.reaches) return answer(fail(Code::kUnavailable, "the coordinator is away"));
    answer(effect(*store));
  });
}

void MemoryRegister::read(Done<Stored> done) {
  call<Stored>([](MemoryStore& store) { return Result<Stored>(store.stored_); }, std::move(done));
}

void MemoryRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  call<Epoch>(
      [expected, text = std::move(text)](MemoryStore& store) -> Result<Epoch> {
        if (store.stored_.epoch != expected) {
          return fail(Code::kConflict,
                      "the register is at epoch " + std::to_string(store.stored_.epoch.value()) +
                          ", not " + std::to_string(expected.value()));
        }
        store.stored_ = {.epoch = Epoch{expected.value() + 1}, .text = text};
        store.changed();
        return store.stored_.epoch;
      },
      std::move(done));
}

void MemoryRegister::watch(std::function<void(const Stored&)> changed) {
  watcher_ = std::move(changed);
}

// What is announced is what is stored when the news arrives: several changes may give one call. A
// lost announcement is made up for by the next.
void MemoryRegister::announce() {
  const Passage passage = store_->passage(*this);
  if (!watcher_ || !passage.reaches || !passage.answered) return;
  loop_.after(passage.there + passage.back, [this, alive = std::weak_ptr<void>(alive_),
                                             stored = store_->stored_] {
    if (alive.expired() || stored.epoch <= announced_) return;
    announced_ = stored.epoch;
    watcher_(stored);
  });
}

void MemoryRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  call<void>(
      [session, until = loop_.now() + ttl](MemoryStore& store) -> Result<void> {
        store.leases_[session] = until;
        return {};
      },
      std::move(done));
}

void MemoryRegister::end_lease(const SessionId& session, Done<void> done) {
  call<void>(
      [session](MemoryStore& store) -> Result<void> {
        store.leases_.erase(session);
        return {};
      },
      std::move(done));
}

void MemoryRegister::alive(Done<std::vector<SessionId>> done) {
  call<std::vector<SessionId>>(
      [now = loop_.now()](MemoryStore& store) -> Result<std::vector<SessionId>> {
        std::erase_if(store.leases_, [&](const auto& lease) { return lease.second <= now; });
        std::vector<SessionId> sessions;
        for (const auto& [session, until] : store.leases_) sessions.push_back(session);
        return sessions;
      },
      std::move(done));
}

}  // namespace cleave::coord
