// StateWatch: looks at the router's state some times a second, and tells each change once
// (admin/state_book.h).
//
// Threads: the control loop.
#pragma once

#include <functional>

#include "admin/router_facts.h"
#include "admin/state_book.h"
#include "app/log.h"
#include "control/orders/operator.h"
#include "net/loop.h"

namespace cleave::app {

class StateWatch {
 public:
  struct Options {
    net::Loop& loop;
    const control::Operator& order_taker;
    admin::RouterFacts& router;
    bool store = true;  // of the pool: a miss is a loss
    std::function<void(const LogLine&)> log;
  };

  explicit StateWatch(Options options) : options_(std::move(options)) {}

  // Once; goes on until the loop ends.
  void start();
  const admin::StateBook& book() const { return book_; }

 private:
  void look();
  void take(const proxy::RouterStats& stats);

  Options options_;
  admin::StateBook book_;
};

}  // namespace cleave::app
