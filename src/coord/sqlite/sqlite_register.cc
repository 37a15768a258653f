#include "coord/sqlite/sqlite_register.h"

#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "coord/sqlite/database.h"
#include "sqlite/job_queue.h"

namespace cleave::coord {
namespace {

using SteadyClock = std::chrono::steady_clock;

class SqliteRegister final : public Register {
 public:
  SqliteRegister(net::Loop& loop, SqliteOptions options)
      : loop_(loop),
        options_(options),
        database_(std::move(options), stopping_),
        jobs_(options_.queue_max) {}
  ~SqliteRegister() override;
  SqliteRegister(const SqliteRegister&) = delete;
  SqliteRegister& operator=(const SqliteRegister&) = delete;

  Result<void> open();

  void read(Done<Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void begin(Epoch first, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  // Lives on the loop; late answers see by it that the register is gone.
  struct Watcher {
    std::function<void(const Stored&)> changed;
    Epoch told;
  };

  void replace(Epoch expected, Epoch next, std::string text, Done<Epoch> done);
  template <class T, class Work>
  void call(Done<T> done, Work work);
  template <class T>
  void answer(Done<T> done, Result<T> result);

  void work();
  void look_for_changes();
  void tell(Stored stored);

  net::Loop& loop_;
  const SqliteOptions options_;
  std::atomic<bool> stopping_ = false;
  Database database_;  // the thread's, once it runs
  std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();

  sqlite::JobQueue jobs_;

  // The thread's own.
  bool watching_ = false;
  SteadyClock::time_point look_at_;
  std::optional<std::int64_t> seen_version_;

  std::thread thread_;
};

Result<void> SqliteRegister::open() {
  if (Result<void> opened = database_.open(loop_.wall_now()); !opened) return opened;
  thread_ = std::thread([this] { work(); });
  return {};
}

SqliteRegister::~SqliteRegister() {
  stopping_ = true;
  jobs_.stop();
  if (thread_.joinable()) thread_.join();
}

// ---- on the loop -----------------------------------------------------------------------------

// `done` is moved along and never copied: it dies on the loop's thread, with what it owns.
template <class T, class Work>
void SqliteRegister::call(Done<T> done, Work work) {
  auto shared = std::make_shared<Done<T>>(std::move(done));
  const bool queued = jobs_.offer([this, shared, work = std::move(work)]() mutable {
    answer<T>(std::move(*shared), work(database_));
  });
  if (queued) return;
  answer<T>(std::move(*shared),
            fail(Code::kUnavailable, "coordinator file " + options_.path + ": " +
                                         std::to_string(options_.queue_max) +
                                         " calls wait already; is the disk stuck?"));
}

template <class T>
void SqliteRegister::answer(Done<T> done, Result<T> result) {
  auto shared = std::make_shared<Done<T>>(std::move(done));
  loop_.post([alive = std::weak_ptr(watcher_), shared = std::move(shared),
              result = std::move(result)]() mutable {
    if (!alive.expired()) std::exchange(*shared, nullptr)(std::move(result));
  });
}

void SqliteRegister::read(Done<Stored> done) {
  call<Stored>(std::move(done), [](Database& database) { return database.read(); });
}

void SqliteRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  replace(expected, Epoch{expected.value() + 1}, std::move(text), std::move(done));
}

void SqliteRegister::begin(Epoch first, std::string text, Done<Epoch> done) {
  replace(Epoch{}, first, std::move(text), std::move(done));
}

void SqliteRegister::replace(Epoch expected, Epoch next, std::string text, Done<Epoch> done) {
  call<Epoch>(std::move(done), [this, expected, next, text = std::move(text)](Database& database) {
    Result<Epoch> epoch = database.replace(expected, next, text);
    // Ours is not in data_version; after a conflict there is something new to see.
    if (epoch && watching_) tell(Stored{.epoch = *epoch, .text = text});
    if (!epoch) look_at_ = {};
    return epoch;
  });
}

void SqliteRegister::watch(std::function<void(const Stored&)> changed) {
  CHECK(!watcher_->changed);  // one watcher a Register
  watcher_->changed = std::move(changed);
  // Not refused when the queue is full: it is asked for once, at the start.
  jobs_.put([this] { watching_ = true; });
}

void SqliteRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  const UnixMillis until{loop_.wall_now().value() + ttl.count()};
  call<void>(std::move(done),
             [session, until](Database& database) { return database.keep_alive(session, until); });
}

void SqliteRegister::end_lease(const SessionId& session, Done<void> done) {
  call<void>(std::move(done),
             [session](Database& database) { return database.end_lease(session); });
}

void SqliteRegister::alive(Done<std::vector<SessionId>> done) {
  call<std::vector<SessionId>>(std::move(done), [now = loop_.wall_now()](Database& database) {
    return database.alive(now);
  });
}

// ---- on the thread ---------------------------------------------------------------------------

void SqliteRegister::work() {
  while (!stopping_) {
    const auto job = jobs_.take(watching_ ? std::optional(look_at_) : std::nullopt);
    if (job) (*job)();
    if (watching_ && !stopping_ && SteadyClock::now() >= look_at_) look_for_changes();
  }
}

// Errors are not told: each call tells its own, and a watch is only a hint.
void SqliteRegister::look_for_changes() {
  look_at_ = SteadyClock::now() + options_.poll_interval;
  const Result<std::int64_t> version = database_.data_version();
  if (!version || seen_version_ == *version) return;
  Result<Stored> stored = database_.read();
  if (!stored) return;
  // Noted before the read: a change in between is looked at twice, not missed.
  seen_version_ = *version;
  tell(std::move(*stored));
}

void SqliteRegister::tell(Stored stored) {
  loop_.post([alive = std::weak_ptr(watcher_), stored = std::move(stored)] {
    const auto watcher = alive.lock();
    if (!watcher || stored.epoch <= watcher->told) return;
    watcher->told = stored.epoch;
    const auto keep = watcher->changed;  // the register may be destroyed within
    keep(stored);
  });
}

}  // namespace

Result<std::unique_ptr<Register>> open_sqlite_register(net::Loop& loop, SqliteOptions options) {
  auto made = std::make_unique<SqliteRegister>(loop, std::move(options));
  if (Result<void> opened = made->open(); !opened) return std::unexpected(opened.error());
  return made;
}

}  // namespace cleave::coord
