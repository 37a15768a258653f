// The servers' own command table: which commands there are, where their keys are, whether they
// write. Learnt from a server's COMMAND reply, so that a module's or a newer server's commands route
// without a change here.
//
// Source: Redis "Command key specifications" (7.0; begin_search index/keyword, find_keys
// range/keynum); first/last/step for 6.2.
// Threads: immutable after `parse`; share it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/resp.h"

namespace cleave::route {

// Where keys begin and how they go on; see the specification.
struct KeySpec {
  enum class Begin : std::uint8_t { kIndex, kKeyword };
  enum class Find : std::uint8_t { kRange, kKeynum };
  Begin begin = Begin::kIndex;
  std::int32_t index = 0;        // kIndex: position; kKeyword: where to start looking (may be < 0)
  std::string keyword;           // upper case
  Find find = Find::kRange;
  std::int32_t last = 0;         // kRange: relative to the beginning; negative: from the end
  std::int32_t step = 1;
  std::int32_t limit = 0;
  std::int32_t keynum_index = 0;  // kKeynum: both relative to the beginning
  std::int32_t first_key = 0;
  bool incomplete = false;        // the server itself says that keys may be missing
};

// One command or subcommand ("xgroup|create").
struct CommandSpec {
  std::string name;         // lower case
  std::int32_t arity = 0;   // negative: at least that many, the name included
  bool writes = false;      // flag "write" (or anything not flagged "readonly" that has keys)
  bool blocks = false;      // flag "blocking"
  bool refused_kind = false;  // admin, pubsub, transaction, connection, scripts without keys ...
  std::vector<KeySpec> keys;
  bool keys_unknown = false;  // movable keys without a specification (old servers)
  std::vector<CommandSpec> subcommands;
};

class CommandTable {
 public:
  // Errors: kInvalid when the reply is not a COMMAND reply.
  static Result<CommandTable> parse(const wire::Reply& command_reply);

  // By any case of the name. nullptr: the server does not know it.
  const CommandSpec* find(std::string_view name) const;
  // The subcommand's spec where `args[1]` names one, else the command's.
  const CommandSpec* find(std::span<const std::string_view> args) const;

  std::size_t size() const { return commands_.size(); }

 private:
  std::map<std::string, CommandSpec, std::less<>> commands_;
};

// Appends the positions of the keys in `args`. Errors: kInvalid when the arguments do not fit the
// specification (a key count that is no number, a keyword that is missing), kNotFound when the
// keys cannot be known.
Result<void> find_keys(const CommandSpec& spec, std::span<const std::string_view> args,
                       std::vector<std::uint32_t>& positions);

}  // namespace cleave::route
