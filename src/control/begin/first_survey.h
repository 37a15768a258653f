// FirstSurvey: whether a ring that is about to be begun would find the keys of its servers where
// they lie: the look of control/strays/surveyor.h, for whom there is no leader and no ring yet.
//
// Threads: one loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/observe/server_look.h"
#include "control/orders/status.h"
#include "control/orders/stray_count.h"
#include "control/orders/stray_orders.h"
#include "ring/view/view.h"

namespace cleave::control {

class FirstSurvey {
 public:
  // Runs once; the survey may be destroyed in it.
  using Done = std::function<void(const Survey&)>;

  // `view`: of the ring that would be begun; its nodes are those that are looked at.
  FirstSurvey(ServerLook::Options options, ring::RingSnapshot view, Done done);

  // Once.
  void start();

 private:
  struct Look;
  void walk(std::size_t index);
  void ask_databases(std::size_t index);
  void one_done();

  net::Loop& loop_;
  ring::RingSnapshot view_;
  Done done_;
  ServerLook look_;
  std::vector<std::shared_ptr<Look>> looks_;
  std::size_t open_ = 0;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
