#include "coord/sqlite/sqlite_register.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "coord/sqlite/sqlite_file.h"

namespace cleave::coord {

// The file's thread and its queue of jobs, done in order. Destroying it finishes what is queued.
class SqliteRegister::Worker {
 public:
  using Job = std::function<void(SqliteFile&)>;

  explicit Worker(std::unique_ptr<SqliteFile> file)
      : file_(std::move(file)), thread_([this] { run(); }) {}

  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void add(Job job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job(*file_);
    }
  }

  std::unique_ptr<SqliteFile> file_;
  std::mutex mutex_;  // guards ending_ and jobs_
  std::condition_variable wake_;
  bool ending_ = false;
  std::deque<Job> jobs_;
  std::thread thread_;  // last: it uses all of the above
};

Result<std::unique_ptr<SqliteRegister>> SqliteRegister::open(net::Loop& loop, Options options) {
  Result<std::unique_ptr<SqliteFile>> file = SqliteFile::open(options.path, options.busy_timeout);
  if (!file) return std::unexpected(file.error());
  // NOLINTNEXTLINE(modernize-make-unique): the constructor is private.
  return std::unique_ptr<SqliteRegister>(
      new SqliteRegister(loop, std::move(options), std::move(*file)));
}

SqliteRegister::SqliteRegister(net::Loop& loop, Options options, std::unique_ptr<SqliteFile> file)
    : loop_(loop),
      options_(std::move(options)),
      worker_(std::make_unique<Worker>(std::move(file))) {}

SqliteRegister::~SqliteRegister() = default;

// The answer travels by `post`; a register that is gone by then answers nobody.
template <class T>
void SqliteRegister::call(std::function<Result<T>(SqliteFile&)> job, Done<T> done) {
  worker_->add([this, alive = std::weak_ptr<void>(alive_), job = std::move(job),
                done = std::move(done)](SqliteFile& file) {
    Result<T> result = job(file);
    loop_.post([alive, done, result = std::move(result)] {
      if (!alive.expired()) done(result);
    });
  });
}

void SqliteRegister::read(Done<Stored> done) {
  call<Stored>([](SqliteFile& file) { return file.read(); }, std::move(done));
}

void SqliteRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  call<Epoch>([expected, text](SqliteFile& file) { return file.compare_and_set(expected, text); },
              [this, text, done = std::move(done)](const Result<Epoch>& written) {
                if (written) announce({.epoch = *written, .text = text});
                done(written);
              });
}

void SqliteRegister::watch(std::function<void(const Stored&)> changed) {
  const bool first = !watcher_;
  watcher_ = std::move(changed);
  if (first) poll();
}

void SqliteRegister::poll() {
  call<Stored>([](SqliteFile& file) { return file.read_if_changed(); },
               [this](const Result<Stored>& stored) {
                 if (stored && stored->epoch != Epoch{}) announce(*stored);
                 loop_.after(options_.poll, [this, alive = std::weak_ptr<void>(alive_)] {
                   if (!alive.expired()) poll();
                 });
               });
}

void SqliteRegister::announce(const Stored& stored) {
  if (!watcher_ || stored.epoch <= announced_) return;
  announced_ = stored.epoch;
  watcher_(stored);
}

// Wall time, because the processes of one machine share it and no other clock; leases are hints.
void SqliteRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  const std::int64_t until = loop_.wall_now().value() + ttl.count();
  call<void>([session, until](SqliteFile& file) { return file.keep_alive(session, until); },
             std::move(done));
}

void SqliteRegister::end_lease(const SessionId& session, Done<void> done) {
  call<void>([session](SqliteFile& file) { return file.end_lease(session); }, std::move(done));
}

void SqliteRegister::alive(Done<std::vector<SessionId>> done) {
  const std::int64_t now = loop_.wall_now().value();
  call<std::vector<SessionId>>([now](SqliteFile& file) { return file.alive(now); },
                               std::move(done));
}

}  // namespace cleave::coord
