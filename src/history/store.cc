#include "history/store.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "sqlite/job_queue.h"

namespace cleave::history {

class Store::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), jobs_(options_.queue_max), thread_([this] { work(); }) {}

  ~Impl() {
    jobs_.end();
    thread_.join();
  }

  // An append: what fails is counted and told.
  void write(std::function<Result<void>(Database&)> change) {
    const bool taken = jobs_.offer([this, change = std::move(change)] {
      const Result<Database*> database = opened();
      Result<void> done;
      if (database) {
        done = change(**database);
      } else {
        done = std::unexpected(database.error());
      }
      if (!done) ++dropped_;
      tell(done);
    });
    if (!taken) ++dropped_;
  }

  template <class T>
  void ask(Done<T> done, std::function<Result<T>(Database&)> question) {
    const bool taken = jobs_.offer([this, done, question = std::move(question)] {
      const Result<Database*> database = opened();
      Result<T> answer =
          database ? question(**database) : Result<T>(std::unexpected(database.error()));
      post([done, answer = std::move(answer)] { done(answer); });
    });
    if (taken) return;
    post([done] { done(fail(Code::kExhausted, "history: too many requests wait for the file")); });
  }

  std::uint64_t dropped() const { return dropped_; }
  const Options& options() const { return options_; }

 private:
  using Moment = std::chrono::steady_clock::time_point;

  void work();
  void post(std::function<void()> answer);
  Result<Database*> opened();
  void tell(const Result<void>& done);

  Options options_;
  sqlite::JobQueue jobs_;
  std::atomic<std::uint64_t> dropped_ = 0;

  // Of the store's thread alone.
  std::optional<Database> database_;
  std::optional<Error> open_error_;
  Moment try_again_{};
  std::string told_;  // the trouble that was told last; "" = all is well

  std::thread thread_;  // last: it uses all of the above
};

void Store::Impl::work() {
  Moment prune_at{};
  for (;;) {
    const bool ending = jobs_.ended();
    const auto job = jobs_.take(std::chrono::steady_clock::now() + options_.prune_every);
    if (!job && ending) return;
    if (job) (*job)();
    const Moment now = std::chrono::steady_clock::now();
    if (now >= prune_at && database_) {
      tell(database_->prune(options_.clock.wall_now()));
      prune_at = now + options_.prune_every;
    }
  }
}

// Posts unless the store is ending: then whoever asked may be gone.
void Store::Impl::post(std::function<void()> answer) {
  if (!jobs_.ended()) options_.post(std::move(answer));
}

Result<Database*> Store::Impl::opened() {
  if (database_) return &*database_;
  const Moment now = std::chrono::steady_clock::now();
  if (!open_error_ || now >= try_again_) {
    Result<Database> database = Database::open(options_.path, options_.bytes_max);
    if (database) {
      open_error_.reset();
      database_.emplace(std::move(*database));
      return &*database_;
    }
    open_error_ = database.error();
    try_again_ = now + options_.retry;
  }
  return std::unexpected(*open_error_);
}

void Store::Impl::tell(const Result<void>& done) {
  if (done) {
    told_.clear();
    return;
  }
  if (told_ == done.error().message) return;
  told_ = done.error().message;
  if (options_.trouble) {
    post([trouble = options_.trouble, error = done.error()] { trouble(error); });
  }
}

Store::Store(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Store::~Store() = default;

void Store::append(HeatPoint point) {
  impl_->write([point = std::move(point)](Database& database) { return database.add(point); });
}

void Store::append_decision(UnixMillis at, std::string json) {
  impl_->write([at, json = std::move(json)](Database& database) { return database.add(at, json); });
}

void Store::heat(UnixMillis from, UnixMillis to, Done<std::vector<HeatPoint>> done) {
  const std::size_t points_max = impl_->options().points_max;
  impl_->ask<std::vector<HeatPoint>>(
      std::move(done), [=](Database& database) { return database.heat(from, to, points_max); });
}

void Store::decisions(UnixMillis since, std::size_t count_max,
                      Done<std::vector<StoredDecision>> done) {
  impl_->ask<std::vector<StoredDecision>>(
      std::move(done), [=](Database& database) { return database.decisions(since, count_max); });
}

std::uint64_t Store::dropped() const { return impl_->dropped(); }

}  // namespace cleave::history
