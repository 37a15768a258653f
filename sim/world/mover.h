// Mover: orders moves of random ranges, at the leader, as long as the world is active, and on in
// calm until enough were committed.
//
// Threads: one.
#pragma once

#include <string>
#include <string_view>

#include "ring/edits/edits.h"
#include "ring/view/view.h"
#include "sim/world/world.h"

namespace cleave::sim {

class Mover {
 public:
  // Of every move that it orders.
  static constexpr std::string_view kReason = "random";

  explicit Mover(World& world);

  void start();
  // At once, whoever leads. False: nobody does, or there is nothing to move.
  bool order();
  void end() { ended_ = true; }

 private:
  void schedule();
  nanoseconds wait();
  void settle_kept(SimRouter& leader, const ring::RingView& view);
  ring::MoveRequest random_request(const ring::RingView& view);
  ring::TokenRange random_piece(const ring::RingView& view, const ring::Entry& entry);

  World& world_;
  Rng rng_;
  bool ended_ = false;
  ring::MoveRequest last_;
};

}  // namespace cleave::sim
