// CommandTable::parse: the reply to COMMAND, of Redis 6.2 (7 fields) and 7 (10 fields).
//
//   0 name  1 arity  2 flags  3 first key  4 last key  5 step  6 ACL categories
//   7 tips  8 key specifications  9 subcommands
#include <algorithm>
#include <limits>
#include <utility>

#include "route/command_table.h"
#include "route/known_commands.h"

namespace cleave::route {
namespace {

using wire::Reply;
using List = std::vector<Reply>;

constexpr std::size_t kFieldsOld = 6;  // up to the step; all that is needed of old servers
constexpr std::size_t kFieldsNew = 10;

bool is_text(const Reply& reply) {
  return reply.type == Reply::Type::kBulk || reply.type == Reply::Type::kStatus;
}

bool has_word(const List& words, std::string_view word) {
  return std::ranges::any_of(words, [&](const Reply& each) { return each.text == word; });
}

// The value of a key in a flattened map; nullptr when it is not there.
const Reply* value_of(const Reply* map, std::string_view key) {
  if (map == nullptr) return nullptr;
  for (std::size_t i = 0; i + 1 < map->elements.size(); i += 2) {
    if (map->elements[i].text == key) return &map->elements[i + 1];
  }
  return nullptr;
}

std::int32_t small(std::int64_t number) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(number, -kMax, kMax));
}

std::int32_t number_of(const Reply* map, std::string_view key) {
  const Reply* const value = value_of(map, key);
  return value == nullptr ? 0 : small(value->integer);
}

std::string text_of(const Reply* map, std::string_view key) {
  const Reply* const value = value_of(map, key);
  return value == nullptr ? "" : value->text;
}

// False: a kind of specification that finds nothing ("unknown", or newer than this code).
bool read_key_spec(const Reply& map, KeySpec& spec) {
  const Reply* const begin = value_of(&map, "begin_search");
  const Reply* const find = value_of(&map, "find_keys");
  const Reply* const where = value_of(begin, "spec");
  const Reply* const how = value_of(find, "spec");
  const std::string begin_type = text_of(begin, "type");
  const std::string find_type = text_of(find, "type");
  if (begin_type == "index") {
    spec.index = number_of(where, "index");
  } else if (begin_type == "keyword") {
    spec.begin = KeySpec::Begin::kKeyword;
    spec.index = number_of(where, "startfrom");
    spec.keyword = text_of(where, "keyword");
  } else {
    return false;
  }
  spec.step = number_of(how, "keystep");
  if (find_type == "range") {
    spec.last = number_of(how, "lastkey");
    spec.limit = number_of(how, "limit");
  } else if (find_type == "keynum") {
    spec.find = KeySpec::Find::kKeynum;
    spec.keynum_index = number_of(how, "keynumidx");
    spec.first_key = number_of(how, "firstkey");
  } else {
    return false;
  }
  return spec.step > 0 && spec.limit >= 0;
}

void read_key_specs(const List& specs, CommandSpec& command) {
  for (const Reply& map : specs) {
    const Reply* const flags = value_of(&map, "flags");
    const List none;
    const List& words = flags == nullptr ? none : flags->elements;
    if (has_word(words, "not_key")) continue;  // a channel's name
    command.writes |= has_word(words, "RW") || has_word(words, "OW") || has_word(words, "RM");
    KeySpec spec;
    if (read_key_spec(map, spec) && !has_word(words, "incomplete")) {
      command.keys.push_back(std::move(spec));
    } else {
      command.keys_unknown = true;
    }
  }
}

void read_key_range(const List& fields, bool movable, CommandSpec& command) {
  const std::int32_t first = small(fields[3].integer);
  const std::int32_t last = small(fields[4].integer);
  const std::int32_t step = small(fields[5].integer);
  if (movable) {
    command.keys = known_keys(command.name);
    command.keys_unknown = command.keys.empty();
  } else if (first > 0 && step > 0) {
    command.keys.push_back({.index = first, .last = last < 0 ? last : last - first, .step = step});
  }
  // Redis 6.2 calls it read-only, though it may rewrite the key's cached cardinality.
  if (command.name == "pfcount") command.writes = true;
}

using Own = std::span<const OwnCommand>;

Handling handling_of(const CommandSpec& command, const List& flags, Own own) {
  const std::string_view whole = std::string_view(command.name);
  const std::string_view name = whole.substr(0, whole.find('|'));
  const auto ours = std::ranges::find(own, name, &OwnCommand::name);
  if (ours != own.end()) return {.action = Action::kLocal, .answer = ours->answer};
  if (const auto known = known_handling(name)) return *known;
  Handling refused{.action = Action::kRefuse};
  if (has_word(flags, "admin")) {
    refused.reason = kOperatorsOnly;
  } else if (has_word(flags, "pubsub")) {
    refused.reason = kNoMessages;
  } else if (command.blocks) {
    refused.reason = kNoBlocking;
  } else if (command.keys_unknown) {
    refused.reason = kHiddenKeys;
  } else if (command.keys.empty() && command.subcommands.empty()) {
    refused.reason = kNoKey;
  } else {
    return {};
  }
  return refused;
}

bool is_command(const Reply& reply) {
  const List& fields = reply.elements;
  return fields.size() >= kFieldsOld && is_text(fields[0]) && !fields[0].text.empty() &&
         fields[1].type == Reply::Type::kInteger && fields[2].type == Reply::Type::kArray;
}

Result<CommandSpec> read_command(const Reply& reply, std::string_view container, Own own) {
  if (!is_command(reply)) return fail(Code::kInvalid, "not a COMMAND reply: an entry is malformed");
  const List& fields = reply.elements;
  const List& flags = fields[2].elements;
  CommandSpec command{.name = fields[0].text, .arity = small(fields[1].integer)};
  std::ranges::transform(command.name, command.name.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
  });
  if (!container.empty() && !command.name.starts_with(std::string(container) + '|')) {
    return fail(Code::kInvalid, "not a COMMAND reply: subcommand '" + command.name + "'");
  }
  command.blocks = has_word(flags, "blocking");
  if (fields.size() >= kFieldsNew) {
    read_key_specs(fields[8].elements, command);
    for (const Reply& sub : fields[9].elements) {
      auto read = read_command(sub, command.name, own);
      if (!read) return std::unexpected(read.error());
      command.subcommands.push_back(std::move(*read));
    }
  } else {
    read_key_range(fields, has_word(flags, "movablekeys"), command);
  }
  const bool has_keys = !command.keys.empty() || command.keys_unknown;
  command.writes |= has_word(flags, "write") || (has_keys && !has_word(flags, "readonly"));
  command.handling = handling_of(command, flags, own);
  if (command.keys.size() == 1 && !command.keys_unknown && command.keys[0].index > 0 &&
      command.keys[0].begin == KeySpec::Begin::kIndex &&
      command.keys[0].find == KeySpec::Find::kRange && command.keys[0].last == 0) {
    command.only_key = static_cast<std::uint32_t>(command.keys[0].index);
  }
  return command;
}

}  // namespace

Result<CommandTable> CommandTable::parse(const wire::Reply& command_reply,
                                         std::span<const OwnCommand> own) {
  if (command_reply.type != Reply::Type::kArray || command_reply.elements.empty()) {
    return fail(Code::kInvalid,
                "not a COMMAND reply: " +
                    (command_reply.is_error() ? command_reply.text : std::string("no list")));
  }
  std::vector<CommandSpec> commands;
  for (const Reply& entry : command_reply.elements) {
    auto command = read_command(entry, "", own);
    if (!command) return std::unexpected(command.error());
    commands.push_back(std::move(*command));
  }
  std::ranges::sort(commands, {}, &CommandSpec::name);
  const auto twice = std::ranges::adjacent_find(commands, {}, &CommandSpec::name);
  if (twice != commands.end() || commands.size() >= 0xFFFF) {
    return fail(Code::kInvalid, "not a COMMAND reply: a name comes twice, or far too many");
  }
  return CommandTable(std::move(commands));
}

}  // namespace cleave::route
