#include "control/moves/copier.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"

namespace cleave::control {
namespace {

// Batches between read and written: source, destination and this thread all have work, and the
// bytes held stay bounded.
constexpr std::size_t kBatchesOpen = 6;
// What takes longer than a quarter of a fence, or has more bytes than this, is not for a fence.
constexpr std::uint64_t kFenceBytesMax = std::uint64_t{4} << 20U;
// A big value that became something else during its copy is read anew so often.
constexpr std::uint32_t kAgainMax = 3;

}  // namespace

Copier::Copier(net::Loop& loop, backend::RedisStore& source, backend::RedisStore& destination,
               Throttle& throttle, const Limits& limits, Mutations mutations)
    : loop_(loop),
      source_(source),
      destination_(destination),
      throttle_(throttle),
      limits_(limits),
      mutations_(mutations) {}

void Copier::copy(std::vector<std::string> keys, Hurry hurry, Done done) {
  copy({.keys = {}, .fenced = hurry == Hurry::kAtOnce, .pieces = std::move(keys)}, std::move(done));
}

void Copier::copy(migrate::CopyKeys order, Done done) {
  CHECK(done != nullptr);
  auto job = std::make_shared<Job>();
  job->done = std::move(done);
  job->hurry = order.fenced ? Hurry::kAtOnce : Hurry::kThrottled;
  jobs_.push_back(job);
  add_batches(job, std::move(order.keys), Pieces::kReported);
  add_batches(job, std::move(order.pieces), Pieces::kCopied);
  for (Touched& touched : order.elements) {
    if (!big_written_.contains(touched.key)) {
      add_batches(job, {std::move(touched.key)}, Pieces::kReported);
      continue;
    }
    waiting_.push_back({.job = job, .keys = {}, .touched = std::move(touched)});
    ++job->batches_open;
  }
  loop_.post(guarded(alive_, [this] { broken_ ? tell_broken() : go_on(); }));
}

void Copier::add_batches(const std::shared_ptr<Job>& job, std::vector<std::string> keys,
                         Pieces pieces) {
  const std::size_t step = batch_keys();
  CHECK(step > 0);
  for (std::size_t at = 0; at < keys.size(); at += step) {
    const auto first = keys.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = keys.begin() + static_cast<std::ptrdiff_t>(std::min(at + step, keys.size()));
    waiting_.push_back({.job = job,
                        .keys = {std::make_move_iterator(first), std::make_move_iterator(last)},
                        .pieces = pieces});
    ++job->batches_open;
  }
}

migrate::Copied Copier::under_way() const {
  migrate::Copied all;
  for (const std::shared_ptr<Job>& job : jobs_) {
    all.keys += job->copied.keys;
    all.bytes += job->copied.bytes;
  }
  return all;
}

// As many keys as make about copy_batch_bytes, by the mean of what was seen.
std::size_t Copier::batch_keys() const {
  if (bytes_seen_ == 0) return limits_.copy_batch_keys;
  const std::uint64_t mean = bytes_seen_ / std::max<std::uint64_t>(keys_seen_, 1) + 1;
  return std::clamp<std::size_t>(limits_.copy_batch_bytes / mean, 1, limits_.copy_batch_keys);
}

void Copier::go_on() {
  while (!waiting_.empty() && open_ < kBatchesOpen && big_.empty() && !broken_) {
    const nanoseconds wait = throttle_.wait(loop_.now());
    if (wait > nanoseconds{0} && waiting_.front().job->hurry == Hurry::kThrottled) {
      if (timer_open_) return;
      timer_open_ = true;
      loop_.after(wait, guarded(alive_, [this] {
                    timer_open_ = false;
                    go_on();
                  }));
      return;
    }
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(batch));
  }
}

void Copier::start(Batch batch) {
  CHECK(!broken_ && open_ < kBatchesOpen);
  ++open_;
  if (!batch.touched.elements.empty()) {
    backend::Item item;
    item.key = std::move(batch.touched.key);
    big_.push_back({batch.job, std::move(item), std::move(batch.touched.elements)});
    if (big_.size() == 1) copy_next_big();
    return;
  }
  const Pieces pieces = batch.pieces;
  source_.read(
      std::move(batch.keys),
      guarded(alive_, [this, job = batch.job, pieces](Result<std::vector<backend::Item>> items) {
        if (broken_) return;
        if (!items) return break_off(backend::End::kSource, items.error());
        write(job, std::move(*items), pieces);
      }));
}

void Copier::write(const std::shared_ptr<Job>& job, std::vector<backend::Item> items,
                   Pieces pieces) {
  CHECK(!broken_ && open_ > 0);
  using Kind = backend::Item::Kind;
  std::vector<backend::Item> small;
  std::uint64_t bytes = 0;
  const bool idle = big_.empty();
  for (backend::Item& item : items) {
    bytes += item.payload.size();
    // In pieces, then: the server would close the connection instead of taking it.
    if (item.payload.size() > destination_.argument_bytes_max()) item.kind = Kind::kBig;
    if (item.kind == Kind::kUnmovable) {
      job->copied.unmovable.push_back({item.key, item.reason});
    } else if (item.kind == Kind::kBig && pieces == Pieces::kReported) {
      job->copied.pieces.push_back(item.key);
    } else if (item.kind == Kind::kBig) {
      ++open_;
      ++job->batches_open;
      big_.push_back({job, std::move(item)});
    } else if (item.kind != Kind::kAbsent || !mutations_.absent_is_skipped) {
      item.unlink_first = big_written_.erase(item.key) > 0;
      small.push_back(std::move(item));
    }
  }
  keys_seen_ += items.size();
  bytes_seen_ += bytes;
  job->copied.keys += small.size();
  job->copied.bytes += bytes;
  throttle_.spend(bytes, loop_.now());
  destination_.write(
      std::move(small),
      [made = made_, then = guarded(alive_, [this, job](Result<backend::Wrote> result) {
                       if (!broken_) written(job, std::move(result));
                     })](Result<backend::Wrote> result) mutable {
        if (result) made->keys += result->more_keys;
        then(std::move(result));
      });
  if (idle && !big_.empty()) copy_next_big();
}

void Copier::written(const std::shared_ptr<Job>& job, Result<backend::Wrote> result) {
  CHECK(!broken_ && open_ > 0);
  if (!result) return break_off(backend::End::kDestination, result.error());
  for (backend::WriteFailure& failure : result->failures)
    job->copied.unmovable.push_back({std::move(failure.key), std::move(failure.reason)});
  close_batch(job);
}

// One at a time, and nothing new starts meanwhile (go_on): two copies of one key would write the
// same hidden key.
void Copier::copy_next_big() {
  CHECK(!broken_ && !big_.empty());
  const Big& big = big_.front();
  const bool whole = big.elements.empty();
  auto done = [this, job = big.job, key = big.item.key, whole](backend::BigCopy copy) {
    if (broken_) return;
    if (copy.failure) return break_off(copy.failure->at, copy.failure->why);
    whole ? big_copied(job, key, std::move(copy)) : elements_copied(job, key, std::move(copy));
  };
  if (whole) return backend::copy_big(ends(big.job), big.item, std::move(done));
  CHECK(big_written_.contains(big.item.key));  // elements go over a whole copy (rule 27 b)
  backend::copy_elements(ends(big.job), big_written_.at(big.item.key),
                         {.key = big.item.key, .elements = big.elements}, std::move(done));
}

backend::BigCopying Copier::ends(const std::shared_ptr<Job>& job) {
  return {.source = source_,
          .destination = destination_,
          .loop = loop_,
          .limits = limits_,
          .element_bytes_max =
              std::min<std::uint64_t>(limits_.element_bytes_max, destination_.argument_bytes_max()),
          .mutations = mutations_,
          .alive = alive_,
          .spent = [this, job](std::uint64_t bytes) { return spent(job, bytes); }};
}

// After each piece: progress, and the budget.
nanoseconds Copier::spent(const std::shared_ptr<Job>& job, std::uint64_t bytes) {
  job->copied.bytes += bytes;
  throttle_.spend(bytes, loop_.now());
  return job->hurry == Hurry::kThrottled ? throttle_.wait(loop_.now()) : nanoseconds{0};
}

void Copier::big_copied(const std::shared_ptr<Job>& job, const std::string& key,
                        backend::BigCopy copy) {
  made_->keys += copy.more_keys;
  if (!copy.unmovable.empty()) {
    job->copied.unmovable.push_back({key, std::move(copy.unmovable)});
  } else if (!copy.changed) {
    ++job->copied.keys;
    const bool slow = copy.busy > limits_.fence_hold_max / 4 || copy.bytes > kFenceBytesMax;
    if (slow) job->copied.big.push_back(key);
    big_written_[key] = {.type = copy.type, .expires_at_ms = copy.expires_at_ms};
  } else if (!read_anew(job, key)) {
    job->copied.unmovable.push_back({key, "it changed its type each time while it was copied"});
  }
  end_big(job);
}

// Where elements will not do, there is no base any more, and the key is read as a whole.
void Copier::elements_copied(const std::shared_ptr<Job>& job, const std::string& key,
                             backend::BigCopy copy) {
  made_->keys += copy.more_keys;
  if (!copy.unmovable.empty()) {
    job->copied.unmovable.push_back({key, std::move(copy.unmovable)});
  } else if (copy.changed) {
    ++job->batches_open;
    waiting_.push_front({.job = job, .keys = {key}});
  }
  end_big(job);
}

void Copier::end_big(const std::shared_ptr<Job>& job) {
  CHECK(!big_.empty() && big_.front().job == job);
  big_.pop_front();
  if (!big_.empty()) copy_next_big();
  close_batch(job);
}

bool Copier::read_anew(const std::shared_ptr<Job>& job, const std::string& key) {
  CHECK(job->batches_open > 0);  // that of its first reading
  if (++job->again[key] > kAgainMax) return false;
  ++job->batches_open;
  waiting_.push_front({.job = job, .keys = {key}, .pieces = Pieces::kCopied});
  return true;
}

void Copier::close_batch(const std::shared_ptr<Job>& job) {
  CHECK(open_ > 0 && job->batches_open > 0);
  --open_;
  --job->batches_open;
  const std::weak_ptr<void> alive = alive_;
  while (!jobs_.empty() && jobs_.front()->batches_open == 0) {
    const std::shared_ptr<Job> ended = std::move(jobs_.front());
    jobs_.pop_front();
    ended->done(std::move(ended->copied));
    if (alive.expired()) return;
  }
  go_on();
}

void Copier::break_off(backend::End at, const Error& why) {
  CHECK(!broken_ && !failed_at_);
  broken_ = true;
  failed_at_ = at;
  error_ = why;
  waiting_.clear();
  tell_broken();
}

void Copier::tell_broken() {
  CHECK(broken_);
  const std::weak_ptr<void> alive = alive_;
  while (!alive.expired() && !jobs_.empty()) {
    const std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    job->done(std::unexpected(error_));
  }
}

}  // namespace cleave::control
