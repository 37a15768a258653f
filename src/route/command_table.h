// The servers' own command table: which commands there are, where their keys are, whether they
// write. Learnt from a server's COMMAND reply, so that a module's or a newer server's commands
// route without a change here.
//
// Source: Redis "Command key specifications" (7.0; begin_search index/keyword, find_keys
// range/keynum); first/last/step for 6.2.
// Threads: immutable after `parse`; share it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "route/handling.h"
#include "wire/reply.h"

namespace cleave::route {

// Where keys begin and how they go on; see the specification.
struct KeySpec {
  enum class Begin : std::uint8_t { kIndex, kKeyword };
  enum class Find : std::uint8_t { kRange, kKeynum };
  Begin begin = Begin::kIndex;
  std::int32_t index = 0;    // kIndex: position; kKeyword: where to start looking (may be < 0)
  std::string keyword = {};  // upper case
  Find find = Find::kRange;
  std::int32_t last = 0;  // kRange: relative to the beginning; negative: from the end
  std::int32_t step = 1;
  std::int32_t limit = 0;
  std::int32_t keynum_index = 0;  // kKeynum: both relative to the beginning
  std::int32_t first_key = 0;
};

// One command or subcommand ("xgroup|create").
struct CommandSpec {
  std::string name;        // lower case
  std::int32_t arity = 0;  // negative: at least that many, the name included
  // It may change a key: flag "write", a key specification that is not read-only (PFCOUNT), or
  // keys without the flag "readonly" (EVAL).
  bool writes = false;
  bool blocks = false;         // flag "blocking"
  bool keys_unknown = false;   // there are keys that no specification finds
  std::uint32_t only_key = 0;  // position of the key when there is always exactly one; else 0
  std::vector<KeySpec> keys = {};
  Handling handling = {};
  std::vector<CommandSpec> subcommands = {};
  // Its number among all commands and subcommands of its table, so that what is known of a command
  // can be kept in a plain array.
  std::uint32_t ordinal = 0;

  bool fits_arity(std::size_t args) const {
    return arity >= 0 ? std::cmp_equal(args, arity) : std::cmp_greater_equal(args, -arity);
  }
};

// A command that the router answers itself: Handling::answer says which, by its owner's number.
struct OwnCommand {
  std::string_view name;  // lower case; static storage
  std::uint32_t answer = 0;
};

class CommandTable {
 public:
  // Those of `own` that the reply has are local, with all their subcommands. Errors: kInvalid when
  // the reply is not a COMMAND reply.
  static Result<CommandTable> parse(const wire::Reply& command_reply,
                                    std::span<const OwnCommand> own = {});

  // By any case of the name. nullptr: the server does not know it. Cost: about 10 ns.
  const CommandSpec* find(std::string_view name) const;
  // The subcommand's spec where `args[1]` names one, else the command's. Requires: args not empty.
  const CommandSpec* find(std::span<const std::string_view> args) const;

  std::size_t size() const { return commands_.size(); }
  // Every CommandSpec::ordinal, of subcommands too, is below it.
  std::uint32_t ordinals() const { return ordinals_; }
  std::span<const CommandSpec> commands() const { return commands_; }  // by name

 private:
  explicit CommandTable(std::vector<CommandSpec> commands);

  std::vector<CommandSpec> commands_;
  std::uint32_t ordinals_ = 0;
  // Open addressing by the hash of the lower-case name: place -> index into commands_, plus one;
  // 0 is free. Sized to be at most a quarter full.
  std::vector<std::uint16_t> places_;
};

// Appends the positions of the keys in `args`. Errors: kInvalid when the arguments do not fit the
// specification (Redis's words, without "ERR"), kNotFound when keys exist that cannot be known.
// Requires: the arity fits.
Result<void> find_keys(const CommandSpec& spec, std::span<const std::string_view> args,
                       std::vector<std::uint32_t>& positions);

// True if both are the same but for the case of ASCII letters.
bool same_word(std::string_view left, std::string_view right);

}  // namespace cleave::route
