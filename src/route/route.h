// What to do with one request: the whole decision, without doing any of it.
//
//   forward     one token: to the node that owns it, raw bytes as received
//   split       MGET MSET DEL UNLINK EXISTS TOUCH over several tokens: a part for each node (keys
//               grouped per owner in O(keys)), answers merged in order
//   everywhere  DBSIZE, FLUSHALL, FLUSHDB: every node, answers merged
//   local       answered by the router itself (PING, ECHO, SELECT 0, QUIT, COMMAND, INFO, CLIENT ...)
//   refuse      a clear error that names the command and why
//
// Pure. Whether a range is held is the proxy's to look up (Entry::move); this says which tokens.
// Threads: any. Cost: no allocation for `forward` with the caller's scratch space.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/limits.h"
#include "ring/view.h"
#include "route/command_table.h"
#include "wire/resp.h"

namespace cleave::route {

// Keys with this prefix are the router's own (ownership marker, chunks of big values). Clients can
// neither see nor change them.
inline constexpr std::string_view kReservedPrefix = "cleave:{";

enum class Action : std::uint8_t { kForward, kSplit, kEverywhere, kLocal, kRefuse };

// How the parts' replies become one.
enum class Merge : std::uint8_t {
  kNone,
  kArrayInOrder,  // MGET: elements back to the places of their keys
  kSumIntegers,   // DEL UNLINK EXISTS TOUCH DBSIZE
  kAllOk,         // MSET FLUSHALL FLUSHDB: +OK, or the first error
};

enum class Local : std::uint8_t {
  kPing, kEcho, kSelect, kQuit, kCommand, kInfo, kClient, kHello, kReset, kTime, kAuth,
};

struct KeyPlace {
  std::uint32_t position = 0;  // in args
  Token token;
};

// Reused by the caller from request to request; `route` overwrites all of it.
struct Decision {
  Action action = Action::kRefuse;
  bool writes = false;
  Merge merge = Merge::kNone;
  Local local = Local::kPing;
  std::uint32_t args_per_key = 1;   // MSET: 2
  const CommandSpec* spec = nullptr;
  std::vector<KeyPlace> keys;       // forward, split: every key of the command
  std::string refusal;              // without '-', e.g. "ERR 'keys' is not supported: it would ..."
};

class Router {
 public:
  Router(const CommandTable& table, const Limits& limits) : table_(table), limits_(limits) {}

  void route(std::span<const std::string_view> args, const ring::RingView& view,
             Decision& decision) const;

 private:
  const CommandTable& table_;
  Limits limits_;
};

}  // namespace cleave::route
