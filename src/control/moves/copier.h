// Copier: copies keys from one server to another in small pipelined batches, in the order asked
// for, within a budget of bytes per second.
//
//   copy(keys) -> [batch][batch][batch] --read--> source --items--> write --> destination
//                  at most kBatchesOpen between read and written
//
// Order: reads are sent in order on one connection and each batch is written when it is read, so
// of two reads of a key the later one is written later (protocol rule 15). A big value is copied
// alone: nothing behind it starts before it has ended. One that is something else when its copy
// ends (deleted, expired, of another type) is read anew. Elements (protocol rule 27) are copied
// over the whole copy that this copier has made; where they will not do, the key is read as a
// whole.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/big_value.h"
#include "backend/redis_store.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "control/moves/throttle.h"
#include "control/observe/copy_counts.h"
#include "migrate/migration.h"
#include "net/loop.h"

namespace cleave::control {

enum class Hurry : std::uint8_t { kThrottled, kAtOnce };

class Copier {
 public:
  using Done = std::function<void(Result<migrate::Copied>)>;

  Copier(net::Loop& loop, backend::RedisStore& source, backend::RedisStore& destination,
         Throttle& throttle, const Limits& limits, Mutations mutations = {});
  // Where the copies are counted: also those that are answered when the copier is gone.
  void count_in(std::shared_ptr<CopyCount> made) { made_ = std::move(made); }

  // Big ones in pieces.
  void copy(std::vector<std::string> keys, Hurry hurry, Done done);
  // As a move wants it. `done` once for each call, in order. After the first error every later call
  // fails too: what was written is not known any more, and the move must abort.
  void copy(migrate::CopyKeys order, Done done);
  // Whose error it was; nullopt while there is none.
  std::optional<backend::End> failed_at() const { return failed_at_; }
  // What calls that have not ended have copied so far.
  migrate::Copied under_way() const;

 private:
  // One call of `copy`.
  struct Job {
    Done done;
    Hurry hurry = Hurry::kThrottled;
    std::uint64_t batches_open = 0;
    migrate::Copied copied;
    std::map<std::string, std::uint32_t> again;  // big values that changed: how often
  };
  enum class Pieces : std::uint8_t { kCopied, kReported };
  struct Batch {
    std::shared_ptr<Job> job;
    std::vector<std::string> keys;
    Pieces pieces = Pieces::kReported;
    Touched touched = {};  // in place of keys
  };

  void add_batches(const std::shared_ptr<Job>& job, std::vector<std::string> keys, Pieces pieces);
  void go_on();
  void start(Batch batch);
  void write(const std::shared_ptr<Job>& job, std::vector<backend::Item> items, Pieces pieces);
  void written(const std::shared_ptr<Job>& job, Result<backend::Wrote> result);
  void copy_next_big();
  void big_copied(const std::shared_ptr<Job>& job, const std::string& key, backend::BigCopy copy);
  void elements_copied(const std::shared_ptr<Job>& job, const std::string& key,
                       backend::BigCopy copy);
  backend::BigCopying ends(const std::shared_ptr<Job>& job);
  void end_big(const std::shared_ptr<Job>& job);
  bool read_anew(const std::shared_ptr<Job>& job, const std::string& key);
  nanoseconds spent(const std::shared_ptr<Job>& job, std::uint64_t bytes);
  void close_batch(const std::shared_ptr<Job>& job);
  void break_off(backend::End at, const Error& why);
  void tell_broken();
  std::size_t batch_keys() const;

  net::Loop& loop_;
  backend::RedisStore& source_;
  backend::RedisStore& destination_;
  Throttle& throttle_;
  Limits limits_;
  Mutations mutations_;
  std::shared_ptr<CopyCount> made_ = std::make_shared<CopyCount>();
  std::deque<Batch> waiting_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::size_t open_ = 0;
  struct Big {
    std::shared_ptr<Job> job;
    backend::Item item;
    std::vector<std::string> elements = {};  // none: the whole
  };
  std::deque<Big> big_;  // the first is being copied
  // Copied in pieces before: what is written over it later frees it in the background.
  std::map<std::string, backend::BigBase> big_written_;
  bool timer_open_ = false;
  bool broken_ = false;
  std::optional<backend::End> failed_at_;
  Error error_;
  std::uint64_t keys_seen_ = 0;
  std::uint64_t bytes_seen_ = 0;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
