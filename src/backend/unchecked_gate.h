// UncheckedGate: for connections that touch no client's key, so that they need no look at the ring
// document: probes, and looks at servers before there is a ring.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <utility>

#include "backend/pipe.h"
#include "net/loop.h"

namespace cleave::backend {

class UncheckedGate final : public Gate {
 public:
  UncheckedGate(net::Loop& loop, SessionId session) : loop_(loop), session_(std::move(session)) {}
  const SessionId& session() const override { return session_; }
  void confirm(std::function<void(Result<void>)> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }

 private:
  net::Loop& loop_;
  SessionId session_;
};

}  // namespace cleave::backend
