// Cleaner: does what one Cleaning (migrate/cleaning.h) decides, on one node.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis_store.h"
#include "base/mutation.h"
#include "control/document/document_writer.h"
#include "control/observe/copy_counts.h"
#include "migrate/cleaning.h"
#include "net/loop.h"
#include "ring/view/view.h"

namespace cleave::control {

class Cleaner {
 public:
  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    // The server of a node; nullptr: it is not in the document any more.
    std::function<std::shared_ptr<backend::RedisStore>(NodeId)> store;
    ring::RingSnapshot view;  // who owns the keys now
    ring::Leader leader;      // whose term this is
    Mutations mutations;
    std::shared_ptr<CopyCount> copies;  // of the entry; nullptr: not known
    // Nobody else is busy on its node: no move, no other cleaner.
    std::function<bool(const Cleaner&)> may_touch;
    // Runs once, in a turn of its own; the cleaner may be destroyed in it.
    std::function<void(Cleaner&)> over;
  };

  Cleaner(const ring::Leftover& entry, Options options);

  void start();
  void see(const SharedDocument& document);

  const migrate::Cleaning& cleaning() const { return cleaning_; }
  // It waits to try again: nothing of its is under way on the node.
  bool waits() const { return cleaning_.at() == migrate::CleaningStep::kWaiting; }
  // Since when nothing but unfinished commands keeps it from beginning (rule 23 a).
  Instant held_since() const { return held_since_; }

 private:
  void feed(const migrate::CleaningEvent& event);
  void act_on(const migrate::AwaitQuiet& action);
  void act_on(const migrate::SweepNode& action);
  void act_on(const migrate::LookAt& action);
  void act_on(const migrate::CleanPage& action);
  void act_on(const migrate::WriteEntry& action);
  void act_on(const migrate::Over& action);

  void tick();
  void look_at_holder(migrate::LookedAt seen);
  struct Asked;
  void ask_owners(std::vector<std::string> keys, migrate::PageCleaned page);
  void asked_owners(Asked& asked);
  void remove(std::vector<std::string> keys, migrate::PageCleaned page);
  backend::Store::KeyFilter in_entry() const;
  std::shared_ptr<backend::RedisStore> node() const;
  void fail_step(const std::string& where, const std::string& why);

  Options options_;
  migrate::Cleaning cleaning_;
  std::string cursor_;
  Instant held_since_{0};
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
