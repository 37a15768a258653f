// What one request costs its server: weight = a[command] + b x bytes, in nanoseconds of server
// time.
//
// a comes from the servers' own `INFO commandstats`, refreshed by the leader and told to the
// routers with each question for heat; until then every command counts the same. b is the price of
// a byte copied and sent. Queue time and latency are never used: a slow node would look loaded by
// each request (docs/ARCHITECTURE.md, "Heat").
//
// Pure. Threads: values; share as const.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave::heat {

inline constexpr std::uint32_t kCommandNsDefault = 8'000;  // parse + execute + system calls
inline constexpr std::uint32_t kBytePicosDefault = 1'000;  // 1 ns a byte

// What a server spends on a request outside of the command itself (usec_per_call does not show it):
// reading, parsing, answering. The cheapest command therefore still costs something. So much it is
// for one request at a time; those of a pipeline share the system calls (`request_ns`).
inline constexpr std::uint32_t kRequestNs = 7'000;
inline constexpr std::uint32_t kRequestNsLeast = 300;

// Nanoseconds of one request: `command_ns` + bytes. Saturates at 2^32 - 1.
constexpr std::uint32_t weight_ns(std::uint32_t command_ns, std::uint64_t bytes) {
  if (bytes > 0xFFFFFFFFU) return 0xFFFFFFFFU;  // 4 GiB in one request: and the product fits
  const std::uint64_t total = command_ns + bytes * kBytePicosDefault / 1'000;
  return total > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(total);
}

// One command's line of `INFO commandstats`: since the server started or its counters were reset.
struct CommandStat {
  std::uint64_t calls = 0;
  std::uint64_t usec = 0;

  friend bool operator==(const CommandStat&, const CommandStat&) = default;
};

// By lower-case command name; subcommands as "client|list".
using CommandStats = std::map<std::string, CommandStat, std::less<>>;

// Reads the text of `INFO commandstats`. Other lines and unknown fields are passed over.
// Errors: kInvalid, names the line: a counter that is missing or no number.
Result<CommandStats> parse_commandstats(std::string_view text);

// What happened from `before` to `after`. A counter that went back (a restart, CONFIG RESETSTAT)
// began again at zero. Commands that were not called are left out.
CommandStats since(const CommandStats& before, const CommandStats& after);

// Adds the calls of `more`, so that the nodes of a pool can be priced together.
void add(CommandStats& sum, const CommandStats& more);

// What was spent outside of commands for each of them, by the time that the servers used. At most
// kRequestNs, for an idle server is busy with itself; that much also with fewer than `calls_min`
// calls, and where the servers do not tell their time (0).
std::uint32_t request_ns(const CommandStats& interval, std::uint64_t cpu_us,
                         std::uint64_t calls_min);

// Nanoseconds of one call, with `request_ns`. Commands with fewer than `calls_min` calls are left
// out: their mean is luck, and kCommandNsDefault is the better guess.
using CommandPrices = std::map<std::string, std::uint32_t, std::less<>>;
CommandPrices prices(const CommandStats& interval, std::uint64_t calls_min,
                     std::uint32_t request_ns);

// The price of a command, or kCommandNsDefault.
std::uint32_t price_of(const CommandPrices& prices, std::string_view command);

// What the routers sent to one node while the server counted.
struct Routed {
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;
  // Requests that may have been counted by one side only, because the two did not begin and end
  // their counting at the same moment: what the node gets in the largest such gap.
  std::uint64_t edge_requests = 0;
};

// Who sent what the server did.
struct Attribution {
  std::uint64_t server_requests = 0;  // without our own
  std::uint64_t server_writes = 0;
  std::uint64_t unattributed_requests = 0;
  std::uint64_t unattributed_writes = 0;
  std::uint32_t unattributed_ppm = 0;  // of server_requests

  // Somebody else writes to this node: its moves would lose what they write.
  bool foreign_writes() const { return unattributed_writes >= kForeignWritesMin; }

  static constexpr std::uint64_t kForeignWritesMin = 10;

  friend bool operator==(const Attribution&, const Attribution&) = default;
};

// Compares a server's own counters with what the routers sent it. `own` is what this program's
// prober and drivers did there; `writes` names the commands that write. A fanned-out command may
// count once for each key here and once at the server: that errs towards trust, never to a false
// accusation, and is small against a client that really bypasses the routers.
Attribution reconcile(const CommandStats& interval, const CommandStats& own,
                      const std::set<std::string, std::less<>>& writes, const Routed& routed);

}  // namespace cleave::heat
