// What to do with one request: the whole decision, without doing any of it.
//
//   forward     one token: to the node that owns it, raw bytes as received
//   split       MGET MSET DEL UNLINK EXISTS TOUCH over several tokens: a part for each node (keys
//               grouped per owner in O(keys)), answers merged in order
//   everywhere  DBSIZE, FLUSHALL, FLUSHDB: every node, answers merged
//   local       answered by the router itself (OwnCommand: PING, INFO, CLEAVE.HELP ...)
//   refuse      a clear error that names the command and why
//
// Pure. Whether a range is held is the proxy's to look up (Entry::move); this says which tokens.
// Threads: any. Cost: no allocation for `forward` with the caller's scratch space; below 60 ns for
// GET and SET.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/limits.h"
#include "base/own_names.h"
#include "ring/view/view.h"
#include "route/command_table.h"
#include "route/handling.h"
#include "wire/resp.h"

namespace cleave::route {

// Keys with this prefix are the router's own (ownership marker, chunks of big values). Clients can
// neither see nor change them.
inline constexpr std::string_view kReservedPrefix = kOwnKeyPrefix;

// Where one key of a request stands, and where it lies on the ring.
struct KeyPlace {
  std::uint32_t position = 0;  // in args
  Token token;
};

// Reused by the caller from request to request; `route` overwrites all of it.
struct Decision {
  Action action = Action::kRefuse;
  bool writes = false;
  Merge merge = Merge::kNone;         // split, everywhere
  std::uint32_t args_per_key = 1;     // MSET: 2
  const CommandSpec* spec = nullptr;  // nullptr: the server does not know the command
  std::vector<KeyPlace> keys;         // forward, split: every key of the command
  std::string refusal;  // without '-', e.g. "ERR 'keys' is not supported: it would ..."
  std::vector<std::uint32_t> positions;  // scratch of `route`
};

// Decides by a server's table; the view comes with each request, because it changes.
class CommandRouter {
 public:
  // Borrows the table.
  CommandRouter(const CommandTable& table, const Limits& limits) : table_(table), limits_(limits) {}

  // Requires: args not empty. Where a real server would answer with an error before it looked at
  // any key (unknown command, wrong arity), the refusal is that error, word for word. Of what is
  // local only the arity was looked at.
  void route(std::span<const std::string_view> args, const ring::RingView& view,
             Decision& decision) const;

 private:
  void route_by_keys(std::span<const std::string_view> args, const ring::RingView& view,
                     Decision& decision) const;
  // False: refused.
  bool add_key(std::span<const std::string_view> args, std::uint32_t position,
               const ring::RingView& view, Decision& decision) const;

  const CommandTable& table_;
  Limits limits_;
};

}  // namespace cleave::route
