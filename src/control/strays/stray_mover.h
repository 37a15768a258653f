// StrayMover: does with strays what a person orders: to the node where the ring looks for them, or
// out of the pool, into a file. Nothing is overwritten, and nothing is deleted before its copy is
// in place and unless it is still what was copied.
//
//   a page of strays --read--> RESTORE at the owner, without REPLACE --> still the same server? -->
//   replicas have it --> WATCH and compare at the stray's node --> MULTI UNLINK EXEC
//
// Routers never look at that node for such a key, so only a writer who bypasses them can change it
// meanwhile: then the stray stays, and its copy is withdrawn unless a client has changed that. The
// owner's side is a driver's write (protocol rule 8): it is sent only while no move is driven or
// waits, and a move begins only when it is finished; a later leader's sweep ends what is left.
// A FLUSHALL that runs at the same time may miss a key that is just on its way.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis_store.h"
#include "control/observe/node_links.h"
#include "control/orders/status.h"
#include "control/orders/stray_orders.h"
#include "net/loop.h"
#include "ring/view/view.h"

namespace cleave::control {

class StrayMover {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  struct Options {
    net::Loop& loop;
    NodeLinks& links;
    std::function<ring::RingSnapshot()> view;
    std::function<bool()> moving;         // a move is driven or waits
    std::function<void(NodeId)> touched;  // we wrote there ourselves
  };

  explicit StrayMover(Options options) : options_(std::move(options)) {}

  // Of the page at the cursor: each stray to its owner. Errors: kConflict while anything moves or a
  // server is not this pool's primary; kUnavailable.
  void move(StrayPage from, Done<StraysHandled> done);
  // Of the page at the cursor: what each stray holds. Changes nothing.
  void read(StrayPage from, Done<StrayDumps> done);
  // Removes strays that are still what was read.
  void remove(NodeId node, std::vector<StrayDump> dumps, Done<StraysHandled> done);

 private:
  struct Work;
  using WorkPtr = std::shared_ptr<Work>;

  Result<std::shared_ptr<backend::RedisStore>> ready(NodeId node) const;
  void list(const StrayPage& from, std::function<void(Result<WorkPtr>)> done);
  void take_page(const WorkPtr& work, const ring::RingView& before, const wire::Reply& page);
  void next(const WorkPtr& work);
  void read_next(const WorkPtr& work);
  void place(const WorkPtr& work, backend::Item item);
  void compare_placed(const WorkPtr& work, const backend::Item& item, const std::string& at_owner);
  void secure(const WorkPtr& work, const backend::Item& item);
  void take_away(const WorkPtr& work, const backend::Item& item);
  void withdraw(const WorkPtr& work, const backend::Item& item, const std::string& why);
  void remove_next(const WorkPtr& work);
  void keep(const WorkPtr& work, const std::string& key, std::string why);

  Options options_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
