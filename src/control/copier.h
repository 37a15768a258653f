// Copier: copies keys from one server to another in small pipelined batches, in the order asked
// for, within a budget of bytes per second.
//
//   copy(keys) -> [batch][batch][batch] --read--> source --items--> write --> destination
//                  at most kBatchesOpen between read and written
//
// Order: reads are sent in order on one connection and each batch is written when it is read, so
// of two reads of a key the later one is written later (protocol rule 15). A big value is copied
// alone: nothing behind it starts before it has ended.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/big_value.h"
#include "backend/redis_store.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "control/throttle.h"
#include "migrate/migration.h"
#include "net/loop.h"

namespace cleave::control {

enum class Hurry : std::uint8_t { kThrottled, kAtOnce };

class Copier {
 public:
  using Done = std::function<void(Result<migrate::Copied>)>;

  Copier(net::Loop& loop, backend::RedisStore& source, backend::RedisStore& destination,
         Throttle& throttle, const Limits& limits, Mutations mutations = {});

  // `done` once for each call, in order. After the first error every later call fails too: what
  // was written is not known any more, and the move must abort.
  void copy(std::vector<std::string> keys, Hurry hurry, Done done);

 private:
  // One call of `copy`.
  struct Job {
    Done done;
    std::uint64_t batches_open = 0;
    migrate::Copied copied;
  };
  struct Batch {
    std::shared_ptr<Job> job;
    std::vector<std::string> keys;
    Hurry hurry = Hurry::kThrottled;
  };

  void go_on();
  void start(Batch batch);
  void write(const std::shared_ptr<Job>& job, std::vector<backend::Item> items);
  void written(const std::shared_ptr<Job>& job, Result<std::vector<backend::WriteFailure>> result);
  void copy_next_big();
  void big_copied(const std::shared_ptr<Job>& job, const std::string& key, backend::BigCopy copy);
  void close_batch(const std::shared_ptr<Job>& job);
  void break_off(const Error& why);
  std::size_t batch_keys() const;

  net::Loop& loop_;
  backend::RedisStore& source_;
  backend::RedisStore& destination_;
  Throttle& throttle_;
  Limits limits_;
  Mutations mutations_;
  std::deque<Batch> waiting_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::size_t open_ = 0;
  struct Big {
    std::shared_ptr<Job> job;
    backend::Item item;
  };
  std::deque<Big> big_;  // the first is being copied
  bool timer_open_ = false;
  bool broken_ = false;
  Error error_;
  std::uint64_t keys_seen_ = 0;
  std::uint64_t bytes_seen_ = 0;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
