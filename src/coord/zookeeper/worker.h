// Worker: a thread that runs jobs in order; for calls that may wait. Private to coord/zookeeper.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace cleave::coord::zookeeper {

// Threads: any may post; jobs run on the worker's.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  // Runs what was posted, then ends.
  ~Worker() {
    post(nullptr);
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      if (!job) return;
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_; an empty one: end
  std::thread thread_;                      // last: it uses the others
};

}  // namespace cleave::coord::zookeeper
