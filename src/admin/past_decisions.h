// PastDecisions: what was decided before this router led: by itself in a former life, and by the
// leaders before it, whom it asked while they led.
//
//   every router, every two seconds: GET /decisions?since=... of the leader -> `learn`, and into
//   its own history; so that the next leader, whoever it is, can explain what came before.
//
// Threads: one owner.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "admin/render.h"
#include "base/clock.h"

namespace cleave::admin {

class PastDecisions {
 public:
  static constexpr std::size_t kKept = 1'000;

  // Decisions as /decisions tells them; those that are known are passed over. Those that are new,
  // oldest first.
  std::vector<Json> learn(const Json& decisions);
  // Answers of a router: own and past ones together, newest first, each once.
  Json with(const Json& own) const;
  // Of the newest one; 0: none.
  UnixMillis newest() const;

 private:
  std::deque<Json> kept_;  // oldest first
};

}  // namespace cleave::admin
