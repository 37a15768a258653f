// StrayWatch: counts the strays of every node (stray_count.h), all the time while this
// router leads: walk after walk, a page of keys a second (about 0.1 % of the server's time), the
// first 20,000 keys of a term ten times as fast, so that soon something is known.
//
// Strays beyond those that a person has accepted (the document says how many) hold moves of ranges
// of scripts back until a person accepts them, or all are gone: how old they are does not matter,
// and a new leader that finds them goes on with it.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "backend/store.h"
#include "base/clock.h"
#include "base/ids.h"
#include "control/orders/status.h"
#include "control/orders/stray_count.h"
#include "net/loop.h"
#include "ring/view/view.h"

namespace cleave::control {

class StrayWatch {
 public:
  static constexpr std::uint64_t kFirstKeys = 20'000;

  using Listed = std::function<void(Result<backend::Page>)>;

  struct Options {
    net::Loop& loop;
    // A page of a node's keys from the cursor on, without the router's own; false: it cannot be
    // asked now.
    std::function<bool(NodeId, const std::string& cursor, Listed)> list;
    std::function<ring::RingSnapshot()> view;
    std::function<void(DecisionRecord)> decided;
    // More than kMisplacedMaxPpm of a node's keys are strays: told once, and again when they were
    // fewer in between.
    std::function<void()> does_not_fit;
  };

  explicit StrayWatch(Options options);

  // What is known of a node.
  StrayFacts facts(NodeId node) const;
  // Whether there are strays that no person has accepted: a script may be writing them.
  bool new_strays() const;
  // A person has just accepted those that are there, perhaps as many as before.
  void accepted_now(NodeId node, std::uint64_t strays);
  // Somebody else has walked over its keys, or changed some of them.
  void take(NodeId node, const StrayCount& count);

 private:
  struct Node {
    std::string cursor;  // of the walk under way; empty: at its start
    bool asked = false;
    Instant next{0};  // page
    StrayCounter walk;
    StrayCount last;  // of the last whole walk, or of the first one as far as it is
    bool known = false;
    bool told = false;
    bool misfit = false;         // was told
    bool was_clean = false;      // a whole walk of ours met none
    UnixMillis since;            // 0: there are none
    std::uint64_t accepted = 0;  // by a person
    std::uint64_t expected = 0;  // the fewest that were met since then
    std::uint64_t most = 0;      // strays seen at once, of those that nobody has accepted
    UnixMillis grew;             // when that was; 0: never
  };

  void tick();
  void ask(NodeId id, Node& node);
  void take_page(NodeId id, const std::vector<std::string>& keys, const ring::RingView& before);
  void settle(NodeId id, Node& node, const StrayCount& count);
  std::uint64_t accepted(NodeId id) const;
  void watch_growth(NodeId id, Node& node, const StrayCount& count);
  void tell(NodeId id, const StrayCount& count) const;

  Options options_;
  std::map<NodeId, Node> nodes_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
