// StateBook: what is wrong or has changed in a router, told once when it begins and once when it is
// over: the same facts for the log, `/status`, `/metrics` and `cleave status`.
//
//   Facts --observe--> Observed --StateBook::look--> lines for the log
//                                       +----------> what stands now, and since when
//
// A fact that is not known now (a server that does not answer tells no memory; only the leader asks
// servers) neither begins nor ends anything.
//
// Threads: one owner. `observe` is pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/orders/status.h"
#include "proxy/data_path.h"

namespace cleave::admin {

// What may be wrong. Names are a contract: labels of metrics, `code` of /status and of log lines.
enum class Trouble : std::uint8_t {
  kCoordinatorAway,      // does not answer
  kCoordinatorReadOnly,  // answers, but takes no writes
  kRingUnusable,         // the coordinator holds a ring that this router cannot take
  kNodeDown,             // does not answer
  kNodeRefusing,         // answers, but refuses to serve: LOADING, NOAUTH, cluster mode, ...
  kNodeReplica,          // is no primary
  kNodeFull,             // reached its maxmemory and evicts nothing
  kNodeEvicts,           // its eviction policy may delete keys of a store
  kNodeUnmarked,         // was not adopted: no move touches it
  kNodeForeignMark,      // carries the marker of another pool
  kNodeForeignWrites,    // is written to past the routers
  kNodeTwin,             // is the same server as another node
  kNodeOtherDatabases,   // holds keys that no client reaches: in databases 1 and above
  kNodeRefusesCommands,  // answers clients with OOM, READONLY, MISCONF, ...
  kNodeRefusesMoves,     // said no to a move, and rests
  kAcceptingPaused,      // no descriptor is left for new clients
  kLeftoverKept,         // a person has to decide about what a move left behind
  kLeftoverWaits,        // what a move left behind cannot be cleaned
};
inline constexpr std::size_t kTroubles = 18;

std::string_view to_string(Trouble trouble);

// One thing that is wrong; `node` is empty for what is the pool's or the router's, `move` is 0 but
// for leftovers.
struct TroubleKey {
  Trouble trouble = Trouble::kNodeDown;
  std::string node;
  MoveId move = {};

  friend auto operator<=>(const TroubleKey&, const TroubleKey&) = default;
};

// What is true of a router at one moment.
struct Observed {
  std::map<TroubleKey, std::string> wrong;  // with the text for people
  std::set<TroubleKey> right;               // known not to be wrong
  std::string leader;                       // session; empty: none
  std::string leader_at;                    // where it is asked
  Term term;
  std::optional<ring::Mode> mode;  // nullopt: no document yet
  bool frozen = false;
  std::uint64_t clients_shed = 0;
  std::string last_shed;
  // How often each node has refused a command so far, by cause.
  std::map<std::string, std::map<proxy::ErrorCause, std::uint64_t>> refused;
};

// A line for the log.
struct StateChange {
  enum class Level : std::uint8_t { kInfo, kWarning };
  Level level = Level::kInfo;
  std::string event;  // "node-down", "node-down-over", "leader", "mode", "frozen", "client-shed"
  std::string node;   // empty: none
  std::string text;

  friend bool operator==(const StateChange&, const StateChange&) = default;
};

// Something wrong that stands.
struct Standing {
  std::string text;
  UnixMillis since;
  bool told = false;
};

class StateBook {
 public:
  // What has changed since the last look.
  std::vector<StateChange> look(Observed now, UnixMillis wall);
  const std::map<TroubleKey, Standing>& standing() const { return standing_; }

 private:
  void judge_refusals(Observed& now, UnixMillis wall);
  void take_wrong(const Observed& now, UnixMillis wall, std::vector<StateChange>& changes);
  void take_right(const Observed& now, UnixMillis wall, std::vector<StateChange>& changes);
  void take_values(const Observed& now, std::vector<StateChange>& changes) const;

  std::map<TroubleKey, Standing> standing_;
  // When each node last refused a command, by cause.
  std::map<std::pair<std::string, proxy::ErrorCause>, UnixMillis> refused_at_;
  Observed last_;
};

// What a look is made of.
struct Seen {
  const control::Status& status;
  const std::vector<proxy::NodeHealth>& health;
  const proxy::RouterStats& router;
  bool store = true;  // a miss is a loss (docs/formats/config.md, `kind`)
};

Observed observe(const Seen& seen, const StateBook& book);

}  // namespace cleave::admin
