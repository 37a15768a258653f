// DocumentOptions: what a router's process decides of its part in the ring document.
//
// Threads: values; the functions are called on the control loop.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/view/view.h"

namespace cleave::control {

struct DocumentOptions {
  SessionId session;           // never used before
  std::string peer_address{};  // "host:port" where other routers ask this one; empty: nowhere
  // Each third of it asks the coordinator twice: 2 requests a second. With a remote coordinator
  // 6 s make it the 1 a second that it is to bear of a router.
  milliseconds lease{3'000};
  // When another router last asked this one something (peer/); empty: the coordinator alone tells
  // who is alive.
  std::function<Instant()> last_asked{};
  // A new view; first the one of our own join. To be handed to the data path at once.
  std::function<void(ring::RingSnapshot)> publish;
  // The session was removed (rule 2), or the document cannot be used: the process must stop
  // serving and start again under a new session.
  std::function<void(const Error&)> removed;
};

}  // namespace cleave::control
