#include "sqlite/job_queue.h"

#include <utility>

namespace cleave::sqlite {

bool JobQueue::offer(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= jobs_max_) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void JobQueue::put(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void JobQueue::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
}

void JobQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    stopped_ = true;
  }
  changed_.notify_one();
}

bool JobQueue::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::optional<JobQueue::Job> JobQueue::take(std::optional<Moment> until) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return ended_ || !jobs_.empty(); };
  if (until) {
    changed_.wait_until(lock, *until, ready);
  } else {
    changed_.wait(lock, ready);
  }
  if (stopped_ || jobs_.empty()) return std::nullopt;
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

}  // namespace cleave::sqlite
