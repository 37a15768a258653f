#include "sim/model/command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>

#include "base/check.h"

namespace cleave::sim {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::array<std::span<const CommandInfo>, 4> all_tables() {
  return {string_commands(), key_commands(), collection_commands(), server_commands()};
}

// The key specification of one range of keys, in the nested form of Redis 7.
void append_key_spec(std::string& out, const CommandInfo& info) {
  const std::int32_t last = info.last_key < 0 ? info.last_key : info.last_key - info.first_key;
  wire::append_array_header(out, 6);
  wire::append_bulk(out, "flags");
  wire::append_array_header(out, 1);
  wire::append_status(out, info.writes ? "RW" : "RO");
  wire::append_bulk(out, "begin_search");
  wire::append_array_header(out, 4);
  wire::append_bulk(out, "type");
  wire::append_bulk(out, "index");
  wire::append_bulk(out, "spec");
  wire::append_array_header(out, 2);
  wire::append_bulk(out, "index");
  wire::append_integer(out, info.first_key);
  wire::append_bulk(out, "find_keys");
  wire::append_array_header(out, 4);
  wire::append_bulk(out, "type");
  wire::append_bulk(out, "range");
  wire::append_bulk(out, "spec");
  wire::append_array_header(out, 6);
  wire::append_bulk(out, "lastkey");
  wire::append_integer(out, last);
  wire::append_bulk(out, "keystep");
  wire::append_integer(out, info.key_step);
  wire::append_bulk(out, "limit");
  wire::append_integer(out, 0);
}

void append_command(std::string& out, const CommandInfo& info) {
  wire::append_array_header(out, 10);
  wire::append_bulk(out, info.name);
  wire::append_integer(out, info.arity);
  wire::append_array_header(out, 1);
  wire::append_status(out, info.writes ? "write" : "readonly");
  wire::append_integer(out, info.first_key);
  wire::append_integer(out, info.last_key);
  wire::append_integer(out, info.key_step);
  wire::append_array_header(out, 0);  // ACL categories
  wire::append_array_header(out, 0);  // tips
  wire::append_array_header(out, info.first_key == 0 ? 0 : 1);
  if (info.first_key != 0) append_key_spec(out, info);
  wire::append_array_header(out, 0);  // subcommands
}

}  // namespace

const CommandInfo* find_command(std::string_view name) {
  static const auto kIndex = [] {
    std::map<std::string, const CommandInfo*, std::less<>> index;
    for (const auto table : all_tables())
      for (const CommandInfo& info : table) CHECK(index.emplace(upper(info.name), &info).second);
    return index;
  }();
  const auto found = kIndex.find(upper(name));
  return found == kIndex.end() ? nullptr : found->second;
}

void append_command_table(std::string& out) {
  std::size_t count = 0;
  for (const auto table : all_tables()) count += table.size();
  wire::append_array_header(out, count);
  for (const auto table : all_tables())
    for (const CommandInfo& info : table) append_command(out, info);
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

bool parse_integer(std::string_view text, std::int64_t& number) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.front() == '0' && text.size() > 1)) return false;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size();
}

bool parse_expiry(Call& call, std::string_view text, ExpiryUnit unit, std::int64_t& expires_ms) {
  std::int64_t value = 0;
  if (!parse_integer(text, value)) {
    wire::append_error(call.reply, kNotInteger);
    return false;
  }
  const std::int64_t base = unit.absolute ? 0 : call.keys.now_ms();
  const bool fits = value > 0 && (!unit.in_seconds || value <= kMax / 1'000) &&
                    (unit.in_seconds ? value * 1'000 : value) <= kMax - base;
  if (!fits) {
    std::string name(call.args[0]);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    wire::append_error(call.reply, "ERR invalid expire time in '" + name + "' command");
    return false;
  }
  expires_ms = base + (unit.in_seconds ? value * 1'000 : value);
  return true;
}

void drop_if_empty(Call& call, std::string_view key) {
  const Entry* entry = call.keys.peek(key);
  if (entry != nullptr && is_empty(entry->value)) call.keys.erase(key);
}

}  // namespace cleave::sim
