// What can be done with a request, in words shared by the command table and the router.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave::route {

enum class Action : std::uint8_t { kForward, kSplit, kEverywhere, kLocal, kRefuse };

// How the parts' replies become one.
enum class Merge : std::uint8_t {
  kNone,
  kArrayInOrder,  // MGET: elements back to the places of their keys
  kSumIntegers,   // DEL UNLINK EXISTS TOUCH DBSIZE
  kAllOk,         // MSET FLUSHALL FLUSHDB: +OK, or the first error
};

// Commands that need a look at their arguments beyond their key specification.
enum class Special : std::uint8_t {
  kNone,
  kSort,     // keys after STORE; BY and GET with a pattern reach for keys of other servers
  kStreams,  // XREAD, XREADGROUP: keys after STREAMS; may block
  kCopy,     // may name another database
  kScript,   // must declare a key
};

// What a command's name (and flags) say already.
struct Handling {
  Action action = Action::kForward;  // kForward, kSplit: where its keys are
  Special special = Special::kNone;
  Merge merge = Merge::kNone;
  std::uint32_t args_per_key = 1;  // MSET: 2
  std::uint32_t answer = 0;        // kLocal: OwnCommand::answer
  std::string_view reason = {};    // kRefuse: why; static storage
};

}  // namespace cleave::route
