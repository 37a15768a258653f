// The data commands of the model server: a table of handlers over a Keyspace.
//
// Replies are those of redis-server 7.0, byte for byte where the command is deterministic; the
// differential test (sim/model/differential_test.cc) holds them to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/model/keyspace.h"
#include "wire/writer.h"

namespace cleave::sim {

// One execution. `args[0]` is the command's name.
struct Call {
  Keyspace& keys;
  std::span<const std::string> args;
  std::string& reply;
};

using Handler = void (*)(Call& call);

// As COMMAND describes it. No keys: first_key = 0.
struct CommandInfo {
  std::string_view name;  // lower case
  std::int32_t arity;     // negative: at least so many, the name included
  bool writes;
  std::int32_t first_key;
  std::int32_t last_key;
  std::int32_t key_step;
  Handler handler;  // nullptr: the server itself answers (connections, transactions, ...)
};

// Of each file of handlers.
std::span<const CommandInfo> string_commands();
std::span<const CommandInfo> key_commands();
std::span<const CommandInfo> collection_commands();
std::span<const CommandInfo> server_commands();

// nullptr: unknown. Any case of the name.
const CommandInfo* find_command(std::string_view name);
// The reply to COMMAND, in the form of Redis 7.
void append_command_table(std::string& out);

// ---- shared by the handlers
// -----------------------------------------------------------------------

inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kSyntax = "ERR syntax error";

std::string upper(std::string_view text);
// The whole text as a decimal number, as string2ll of Redis takes it.
bool parse_integer(std::string_view text, std::int64_t& number);
// A relative or absolute expiry as wall milliseconds. False: answered with an error.
struct ExpiryUnit {
  bool in_seconds = false;
  bool absolute = false;
};
bool parse_expiry(Call& call, std::string_view text, ExpiryUnit unit, std::int64_t& expires_ms);

// What a key holds, for a command of one type.
template <class T>
struct Found {
  bool wrong_type = false;   // answered with an error
  const T* value = nullptr;  // nullptr: absent
};

template <class T>
Found<T> find_as(Call& call, std::string_view key) {
  const Entry* entry = call.keys.find(key);
  if (entry == nullptr) return {};
  const T* value = std::get_if<T>(&entry->value);
  if (value == nullptr) wire::append_error(call.reply, kWrongType);
  return {value == nullptr, value};
}

// The key's value of that type to be changed, made when absent. Requires: find_as said it is none
// of another type.
template <class T>
T& edit_as(Call& call, std::string_view key) {
  Entry* entry = call.keys.edit(key);
  if (entry == nullptr) {
    call.keys.put(key, {.value = T{}});
    entry = call.keys.edit(key);
  }
  return std::get<T>(entry->value);
}

// Redis keeps no empty collections.
void drop_if_empty(Call& call, std::string_view key);

}  // namespace cleave::sim
