// Leadership: this session's lease, who leads, and the removal of sessions whose lease is gone
// (protocol rules 2 and 3).
//
// A lease is a hint: it decides when somebody tries, never whether it is safe. Safety is the
// compare-and-set that takes the term or removes the session, and what it aborts.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/document/document_writer.h"
#include "coord/register.h"
#include "net/loop.h"
#include "ring/document/document.h"

namespace cleave::control {

class Leadership {
 public:
  struct Options {
    SessionId session;
    milliseconds lease{3'000};
    // Our term began (with the document that says so) or ended.
    std::function<void(const SharedDocument&)> leads;
    std::function<void()> lost;
    std::function<void(const std::string&)> log;
    // Whether everybody who matters was heard of just now, past the coordinator. Then there is no
    // need to ask it who is alive, and it is asked rarely. Empty: it is asked all the time.
    std::function<bool()> all_heard{};
    Mutations mutations{};
  };

  Leadership(net::Loop& loop, coord::Register& store, DocumentWriter& writer, Options options);

  // Begins the lease at once; leads and removes only after `joined`.
  void start();
  void joined() { joined_ = true; }
  void follow(const SharedDocument& document);
  // No more lease renewals, no more attempts.
  void stop();

  bool leads() const { return leads_; }
  const ring::Leader& leader() const { return leader_; }

 private:
  void beat();
  void note_beat(bool kept, Instant asked);
  void look();
  void judge(const std::vector<SessionId>& alive);
  void take_term();
  void remove(const SessionId& session);

  net::Loop& loop_;
  coord::Register& store_;
  DocumentWriter& writer_;
  Options options_;
  ring::Leader leader_;
  bool joined_ = false;
  bool leads_ = false;
  bool stopped_ = false;
  bool writing_ = false;
  Instant looked_{0};
  bool troubled_ = false;  // our own lease could not be renewed in time
  Instant judges_from_{0};
  Instant kept_{0};  // when the latest renewal that came in time was asked for
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
