// What waits for the one thread of a file: jobs in their order, at most so many.
//
// Threads: any thread puts jobs in, one takes them out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace cleave::sqlite {

class JobQueue {
 public:
  using Job = std::function<void()>;
  using Moment = std::chrono::steady_clock::time_point;

  explicit JobQueue(std::size_t jobs_max) : jobs_max_(jobs_max) {}

  // False: so many wait already.
  bool offer(Job job);
  // The same without the bound, for what is asked once.
  void put(Job job);
  // No more will come: `take` gives what is there, and then nothing at once.
  void end();
  bool ended() const;
  // `take` gives nothing more; what waits dies with the queue.
  void stop();

  // The next job; none where none came until then, or ever will. Without a time it waits for ever.
  std::optional<Job> take(std::optional<Moment> until);

 private:
  const std::size_t jobs_max_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool ended_ = false;
  bool stopped_ = false;
};

}  // namespace cleave::sqlite
