// Dispatch: everything that one worker sends to servers, from the decision to the reply.
//
//   make --> place --+--> hold      (rule 9: the range is fenced) --> released by a newer view
//                    +--> transmit --> pipe, or a lane
//   pipe --replied--> heat, rules 10 and 11 (Moving) --> Asker
//
// It owns the links to the nodes, the dirty sets and the heat counters; who wants to know is an
// Asker, and what it does with replies is not known here.
//
// Files: dispatch.cc (life, views, the way out), replies.cc (the way back).
//
// Threads: one worker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/fifo.h"
#include "backend/health.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "heat/recorder.h"
#include "net/loop.h"
#include "proxy/commands/command.h"
#include "proxy/commands/pool.h"
#include "proxy/facts/counters.h"
#include "proxy/moves/moving.h"
#include "proxy/servers/command_costs.h"
#include "proxy/servers/links.h"
#include "ring/view/view.h"
#include "route/route.h"
#include "wire/resp.h"

namespace cleave::proxy {

class Dispatch final : private CommandOwner {
 public:
  struct Options {
    net::Loop& loop;
    backend::Gate& gate;
    backend::Credentials credentials;
    Limits limits;
    Mutations mutations;
    std::uint64_t seed = 0;
    WorkerCounters& counters;
    Moving::Cleared cleared;
  };

  explicit Dispatch(Options options);
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  // ---- orders ---------------------------------------------------------------------------------
  // Requires: newer than the one before.
  void adopt(const ring::RingSnapshot& view);
  // As the node's prober sees it. An incarnation that the worker's own connection does not know (a
  // failover left it open) makes it connect anew.
  void set_health(NodeId node, const backend::Health& seen);
  peer::DirtyBatch take_dirty(MoveId move, const std::vector<std::string>& watch) {
    return moving_.take(move, watch);
  }
  // What was counted; from now on requests cost `costs` (nullptr: nothing is known of that yet).
  std::vector<heat::Report> take_heat(std::shared_ptr<const CommandCosts> costs);
  std::vector<NodeTraffic> traffic() const;
  // To be called now and then: ends what was held too long. Not from within a command's callback.
  void tick();
  // Everything that waits fails with the error; nothing is sent any more.
  void stop(const std::string& text);
  // Only for the simulator: see Mutations::leave_fence_alone.
  void break_fence(MoveId move, Epoch phase_epoch);

  // ---- what askers look at --------------------------------------------------------------------
  bool has_view() const { return view_ != nullptr; }
  // Requires: has_view().
  const ring::RingView& view() const { return *view_; }
  // Of the view.
  const std::vector<std::unique_ptr<NodeLink>>& nodes() const { return links_.all(); }
  NodeLink& owner(ring::RangeIndex index) { return links_.owner(index); }
  bool is_fenced(ring::RangeIndex index) const;

  // ---- sending --------------------------------------------------------------------------------
  // One command by its keys. `said`: a clean frame, whose arguments lie within its raw bytes.
  void forward(Asker& asker, const route::Decision& decision, const wire::Request& said);
  // A command to be filled in, then placed.
  Command& make(Asker& asker, const route::Decision& decision);
  Command& make(Asker& asker);
  // Sends it, or holds it while it must not be sent. `raw` is the whole command; the keys' places
  // are in it. The asker may be told within the call.
  void place(Command& command, std::string_view raw);
  // The part of a whole that was released: goes whatever is fenced.
  void transmit(Command& command, std::string_view raw);

 private:
  enum class Keep : std::uint8_t { kAll, kKeys };

  // ---- dispatch.cc ----------------------------------------------------------------------------
  void keep(Command& command, std::string_view raw, Keep what);
  void hold(Command& command, std::string_view raw);
  void release_held();
  void give_up_held();
  void note_elements(Command& command, std::string_view raw);

  // ---- replies.cc -----------------------------------------------------------------------------
  void replied(Command& command, std::string_view raw) override;
  void failed(Command& command, const Error& why, backend::Outcome outcome) override;
  void finished(Command& command) override;
  void dropped(Command& command) override;
  void settle(Command& command, bool ran);
  static void tell(Command& command, std::string_view raw);
  static void tell_error(Command& command, const std::string& text);
  void fail_now(Command& command, const Error& why);
  bool retry(Command& command, const Error& why, backend::Outcome outcome);
  static void note_error(const Command& command, ErrorCause cause);
  void count_heat(const Command& command, std::size_t reply_bytes);
  void mark_later(const Command& command);

  Options options_;
  ring::RingSnapshot view_;
  Links links_;
  Moving moving_;
  heat::Recorder recorder_;
  std::shared_ptr<const CommandCosts> costs_;  // nullptr: every command costs the default
  Pool<Command> commands_;
  CommandList unfinished_;
  backend::Fifo<Command*> held_;  // in the order they came
  std::size_t held_bytes_ = 0;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cleave::proxy
