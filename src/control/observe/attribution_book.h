// AttributionBook: does somebody write to a server past the routers? A move would lose such writes.
//
//   each second     count: what the routers sent, by node, for the interval that was asked about
//   each interval   cut:   from here on questions belong to the next interval
//                   close: a server's own counters, read at about the cut
//                   judge: server - routers (heat::reconcile), node by node
//
// Never a false accusation. An interval says nothing of a node when a move touched it (its copies
// are ours), when a router's report is missing or the routers changed, when the server became
// another, or when it ran what it counts as more commands than were sent (CommandKinds::opaque).
// The two sides are not read at one moment: what the node gets meanwhile is forgiven. A burst in
// that gap may be more than its share, but then the next interval makes up for it, so only
// kIntervalsMin intervals in a row accuse.
//
// Pure: time is an argument. Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/observe/command_kinds.h"
#include "heat/cost.h"
#include "heat/report.h"

namespace cleave::control {

// What the last interval that could be judged says of a node, a second.
struct Unattributed {
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;
};

class AttributionBook {
 public:
  static constexpr std::uint32_t kIntervalsMin = 2;
  // Foreign writes are held to go on until so many intervals in a row were certainly without; or
  // until one had no more than is forgiven, and they were last seen so long ago. While nothing can
  // be judged nobody has seen them end, and a move would lose them all the same: not for ever, for
  // there are nodes of which nothing can be said again.
  static constexpr std::uint32_t kQuietMin = 3;
  static constexpr nanoseconds kForeignFor = seconds{60};
  static constexpr nanoseconds kUnjudgedFor = seconds{3'600};
  // A request counts at the server when it runs, here when its reply arrives.
  static constexpr nanoseconds kReplyMax = milliseconds{250};
  static constexpr nanoseconds kGapMax = seconds{2};  // sides read further apart are not compared

  // A server's counters, read some time between `asked` and `seen`.
  struct Counters {
    Incarnation incarnation;
    std::string_view command_stats;
    Instant asked{0};
    Instant seen{0};
  };

  // Those who must report; a change spoils the interval.
  void set_routers(const std::vector<SessionId>& routers);
  // A move touches the node, or did so since this was last said.
  void moved(NodeId node);
  void forget(NodeId node);

  // ---- questions to routers --------------------------------------------------------------------
  std::uint64_t interval() const { return open_.number; }
  void asked() { ++open_.unanswered; }
  // Answers of a question that was asked in `interval`; an older one comes too late to matter.
  void count(std::uint64_t interval, const SessionId& session,
             const std::vector<heat::Report>& reports, Instant now);
  // No answer, or nobody to ask.
  void missing(std::uint64_t interval);

  // ---- the end of an interval ------------------------------------------------------------------
  // The questions that end it were asked just now.
  void cut(Instant now);
  void close(NodeId node, const Counters& counters);
  // Requires: long enough after `cut` that what is still missing is given up. The nodes that
  // somebody writes to now and nobody was seen to before.
  std::vector<NodeId> judge(const CommandKinds& kinds, Instant now);

  // Somebody writes to it past the routers, as far as is known.
  bool foreign_writes(NodeId node, Instant now) const;
  // While foreign writes are held to go on, as they were last seen.
  Unattributed unattributed(NodeId node) const;

 private:
  struct Interval {
    std::uint64_t number = 1;
    std::map<NodeId, heat::Routed> routed;
    std::uint64_t unanswered = 0;
    bool spoilt = true;  // the first one begins nobody knows when
    std::set<NodeId> moved;
    Instant cut{0};       // its end: from here ...
    Instant answered{0};  // ... to here each router told its last
  };
  // A server's counters at a cut.
  struct Reading {
    heat::CommandStats stats;
    Incarnation incarnation;
    Instant asked{0};
    Instant seen{0};
    nanoseconds gap{0};  // between the two sides
  };
  struct Book {
    std::optional<Reading> before;
    std::optional<Reading> now;  // since the cut
    std::uint32_t in_a_row = 0;
    std::uint32_t quiet = 0;  // in a row, certainly without foreign writes
    Instant foreign{0};       // when the last interval with such writes began; 0: they have ended
    bool doubted = false;     // an interval since was without, as far as can be said
    Unattributed last;
  };

  Interval* find(std::uint64_t number);
  bool in_sequence(const SessionId& session, const heat::Report& report);
  bool comparable(NodeId node, const Book& book, const CommandKinds& kinds) const;
  void compare(NodeId node, Book& book, const CommandKinds& kinds);
  static bool foreign_writes(const Book& book, Instant now);

  std::vector<SessionId> routers_;
  std::map<std::pair<SessionId, std::uint64_t>, std::uint64_t> sequences_;  // of each recorder
  Interval open_;
  std::optional<Interval> ended_;  // and not yet judged
  std::map<NodeId, Book> books_;
};

}  // namespace cleave::control
