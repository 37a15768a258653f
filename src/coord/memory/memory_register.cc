#include "coord/memory/memory_register.h"

#include <utility>

#include "base/check.h"

namespace cleave::coord {
namespace {

// Later by a delay, or by the next turn; never within the call.
void run_later(net::Loop& loop, nanoseconds delay, net::Loop::Callback callback) {
  if (delay > nanoseconds{0}) {
    loop.after(delay, std::move(callback));
  } else {
    loop.post(std::move(callback));
  }
}

}  // namespace

// ---- MemoryStore -----------------------------------------------------------------------------

Stored MemoryStore::read() const {
  const std::lock_guard lock(mutex_);
  return stored_;
}

Result<Epoch> MemoryStore::compare_and_set(Epoch expected, const std::string& text) {
  return replace(expected, Epoch{expected.value() + 1}, text);
}

Result<Epoch> MemoryStore::begin(Epoch first, const std::string& text) {
  return replace(Epoch{}, first, text);
}

Result<Epoch> MemoryStore::replace(Epoch expected, Epoch next, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (stored_.epoch != expected)
    return fail(Code::kConflict, "register: at epoch " + std::to_string(stored_.epoch.value()) +
                                     ", not " + std::to_string(expected.value()));
  stored_ = Stored{.epoch = next, .text = text};
  for (const auto& [id, changed] : subscriptions_) changed(stored_);
  return stored_.epoch;
}

void MemoryStore::keep_alive(const SessionId& session, Instant until) {
  const std::lock_guard lock(mutex_);
  leases_[session] = until;
}

void MemoryStore::end_lease(const SessionId& session) {
  const std::lock_guard lock(mutex_);
  leases_.erase(session);
}

std::vector<SessionId> MemoryStore::alive(Instant now) const {
  const std::lock_guard lock(mutex_);
  std::vector<SessionId> sessions;
  for (const auto& [session, until] : leases_)
    if (until > now) sessions.push_back(session);
  return sessions;
}

std::uint64_t MemoryStore::subscribe(std::function<void(const Stored&)> changed) {
  const std::lock_guard lock(mutex_);
  subscriptions_.emplace(++last_subscription_, std::move(changed));
  return last_subscription_;
}

void MemoryStore::unsubscribe(std::uint64_t subscription) {
  const std::lock_guard lock(mutex_);
  subscriptions_.erase(subscription);
}

// ---- MemoryRegister --------------------------------------------------------------------------

struct MemoryRegister::Watcher {
  std::function<void(const Stored&)> changed;
  Epoch told;

  // Notifications may overtake each other on their way; views only go forward.
  void tell(const Stored& stored) {
    if (!changed || stored.epoch <= told) return;
    told = stored.epoch;
    const auto keep = changed;  // the register may be destroyed within
    keep(stored);
  }
};

MemoryRegister::MemoryRegister(net::Loop& loop, std::shared_ptr<MemoryStore> store, Faults* faults)
    : loop_(loop),
      store_(std::move(store)),
      faults_(faults),
      watcher_(std::make_shared<Watcher>()) {}

MemoryRegister::~MemoryRegister() {
  if (subscription_ != 0) store_->unsubscribe(subscription_);
}

Faults::Fate MemoryRegister::fate(Faults::Call what) const {
  return faults_ == nullptr ? Faults::Fate{} : faults_->fate(what);
}

template <class T>
void MemoryRegister::call(Faults::Call what, std::function<Result<T>()> effect, Done<T> done) {
  const Faults::Fate fate = this->fate(what);
  const auto answer = [&loop = loop_, alive = std::weak_ptr(watcher_), done = std::move(done),
                       fate](Result<T> result) {
    const auto tell = [alive, done, result = std::move(result)] {
      if (!alive.expired()) done(result);
    };
    if (fate.back > nanoseconds{0}) return void(loop.after(fate.back, tell));
    tell();
  };
  run_later(loop_, fate.there, [fate, answer, effect = std::move(effect)] {
    switch (fate.loss) {
      case Faults::Loss::kNone: return answer(effect());
      case Faults::Loss::kRefused:
        return answer(fail(Code::kUnavailable, "register: refused, nothing was done"));
      case Faults::Loss::kReply: std::ignore = effect(); [[fallthrough]];
      case Faults::Loss::kRequest:
        return answer(fail(Code::kTimeout, "register: no answer, the outcome is unknown"));
    }
  });
}

void MemoryRegister::read(Done<Stored> done) {
  call<Stored>(Faults::Call::kRead, [store = store_] { return store->read(); }, std::move(done));
}

void MemoryRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  call<Epoch>(
      Faults::Call::kCompareAndSet,
      [store = store_, expected, text = std::move(text)] {
        return store->compare_and_set(expected, text);
      },
      std::move(done));
}

void MemoryRegister::begin(Epoch first, std::string text, Done<Epoch> done) {
  call<Epoch>(
      Faults::Call::kCompareAndSet,
      [store = store_, first, text = std::move(text)] { return store->begin(first, text); },
      std::move(done));
}

void MemoryRegister::watch(std::function<void(const Stored&)> changed) {
  CHECK(subscription_ == 0);  // one watcher a Register
  watcher_->changed = std::move(changed);
  const auto notify = [this, alive = std::weak_ptr(watcher_)](const Stored& stored) {
    loop_.post([this, alive, stored] {
      if (alive.expired()) return;
      const Faults::Fate fate = this->fate(Faults::Call::kWatch);
      run_later(loop_, fate.there + fate.back, [alive, stored] {
        if (const auto watcher = alive.lock()) watcher->tell(stored);
      });
    });
  };
  subscription_ = store_->subscribe(notify);
  notify(store_->read());  // `tell` drops epoch 0
}

void MemoryRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  call<void>(
      Faults::Call::kKeepAlive,
      [store = store_, session, until = loop_.now() + ttl]() -> Result<void> {
        store->keep_alive(session, until);
        return {};
      },
      std::move(done));
}

void MemoryRegister::end_lease(const SessionId& session, Done<void> done) {
  call<void>(
      Faults::Call::kEndLease,
      [store = store_, session]() -> Result<void> {
        store->end_lease(session);
        return {};
      },
      std::move(done));
}

void MemoryRegister::alive(Done<std::vector<SessionId>> done) {
  call<std::vector<SessionId>>(
      Faults::Call::kAlive, [store = store_, &loop = loop_] { return store->alive(loop.now()); },
      std::move(done));
}

}  // namespace cleave::coord
