// DecisionFollower: keeps what the leader decides, so that this router can explain it when it leads
// itself (admin/past_decisions.h).
//
// Threads: the control loop.
#pragma once

#include <memory>
#include <string>

#include "admin/past_decisions.h"
#include "control/orders/operator.h"
#include "history/store.h"
#include "net/loop.h"

namespace cleave::app {

class DecisionFollower {
 public:
  struct Options {
    net::Loop& loop;
    const control::Operator& order_taker;
    history::Store& history;
    std::string token;  // of the other routers' HTTP interface; empty: none
  };

  explicit DecisionFollower(Options options) : options_(std::move(options)) {}

  // Once; goes on until the loop ends.
  void start();
  const admin::PastDecisions& past() const { return past_; }

 private:
  void recall();
  void follow();
  void take(const std::string& body);

  Options options_;
  admin::PastDecisions past_;
  bool asking_ = false;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::app
