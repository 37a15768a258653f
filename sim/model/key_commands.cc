// Expiry, deletion, DUMP and RESTORE, SCAN: what works on keys of any type.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/model/command.h"

namespace cleave::sim {
namespace {

constexpr std::int64_t kNumberMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

void remove_all(Call& call) {
  std::int64_t removed = 0;
  for (const std::string& key : call.args.subspan(1)) removed += call.keys.erase(key) ? 1 : 0;
  wire::append_integer(call.reply, removed);
}

void count_present(Call& call) {
  std::int64_t present = 0;
  for (const std::string& key : call.args.subspan(1))
    present += call.keys.find(key) != nullptr ? 1 : 0;
  wire::append_integer(call.reply, present);
}

void type(Call& call) {
  const Entry* entry = call.keys.peek(call.args[1]);
  wire::append_status(call.reply, entry == nullptr ? "none" : type_name(entry->value));
}

// ---- expiry
// ---------------------------------------------------------------------------------------

struct ExpireOptions {
  bool nx = false;
  bool xx = false;
  bool gt = false;
  bool lt = false;
};

bool parse_expire_options(Call& call, ExpireOptions& options) {
  for (const std::string& text : call.args.subspan(3)) {
    const std::string option = upper(text);
    if (option == "NX") {
      options.nx = true;
    } else if (option == "XX") {
      options.xx = true;
    } else if (option == "GT") {
      options.gt = true;
    } else if (option == "LT") {
      options.lt = true;
    } else {
      wire::append_error(call.reply, "ERR Unsupported option " + text);
      return false;
    }
  }
  if (options.nx && (options.xx || options.gt || options.lt)) {
    wire::append_error(call.reply,
                       "ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (options.gt && options.lt) {
    wire::append_error(call.reply, "ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

bool wanted(const ExpireOptions& options, std::int64_t now_set, std::int64_t when) {
  if (options.nx && now_set != kNever) return false;
  if (options.xx && now_set == kNever) return false;
  if (options.gt && (now_set == kNever || when <= now_set)) return false;
  return !options.lt || now_set == kNever || when < now_set;
}

void expire_at(Call& call, std::string_view name, ExpiryUnit unit) {
  ExpireOptions options;
  std::int64_t when = 0;
  if (!parse_expire_options(call, options)) return;
  if (!parse_integer(call.args[2], when)) return wire::append_error(call.reply, kNotInteger);
  const std::int64_t base = unit.absolute ? 0 : call.keys.now_ms();
  bool fits = !unit.in_seconds || (when <= kNumberMax / 1'000 && when >= kMin / 1'000);
  if (fits && unit.in_seconds) when *= 1'000;
  fits = fits && when <= kNumberMax - base;
  if (!fits)
    return wire::append_error(call.reply,
                              "ERR invalid expire time in '" + std::string(name) + "' command");
  when += base;
  const Entry* entry = call.keys.find(call.args[1]);
  if (entry == nullptr || !wanted(options, entry->expires_ms, when))
    return wire::append_integer(call.reply, 0);
  if (when <= call.keys.now_ms())
    call.keys.erase(call.args[1]);
  else
    call.keys.edit(call.args[1])->expires_ms = when;
  wire::append_integer(call.reply, 1);
}

void expire(Call& call) { expire_at(call, "expire", {.in_seconds = true}); }
void pexpire(Call& call) { expire_at(call, "pexpire", {}); }
void expireat(Call& call) { expire_at(call, "expireat", {.in_seconds = true, .absolute = true}); }
void pexpireat(Call& call) { expire_at(call, "pexpireat", {.absolute = true}); }

void persist(Call& call) {
  const Entry* entry = call.keys.find(call.args[1]);
  const bool had = entry != nullptr && entry->expires_ms != kNever;
  if (had) call.keys.edit(call.args[1])->expires_ms = kNever;
  wire::append_integer(call.reply, had ? 1 : 0);
}

void time_left(Call& call, ExpiryUnit unit) {
  const Entry* entry = call.keys.peek(call.args[1]);
  if (entry == nullptr) return wire::append_integer(call.reply, -2);
  if (entry->expires_ms == kNever) return wire::append_integer(call.reply, -1);
  std::int64_t left = entry->expires_ms;
  if (!unit.absolute) left = std::max<std::int64_t>(0, left - call.keys.now_ms());
  wire::append_integer(call.reply, unit.in_seconds ? (left + 500) / 1'000 : left);
}

void ttl(Call& call) { time_left(call, {.in_seconds = true}); }
void pttl(Call& call) { time_left(call, {}); }
void expiretime(Call& call) { time_left(call, {.in_seconds = true, .absolute = true}); }
void pexpiretime(Call& call) { time_left(call, {.absolute = true}); }

// ---- moving keys
// ----------------------------------------------------------------------------------

void dump_key(Call& call) {
  const Entry* entry = call.keys.find(call.args[1]);
  if (entry == nullptr) return wire::append_null(call.reply);
  wire::append_bulk(call.reply, dump(entry->value));
}

struct RestoreOptions {
  bool replace = false;
  bool absolute = false;
  std::int64_t idle_seconds = -1;
  std::int64_t frequency = -1;
};

// One option that takes a number; false: answered with an error.
bool parse_bounded(Call& call, const std::string& text, std::int64_t bound,
                   std::string_view complaint, std::int64_t& number) {
  if (!parse_integer(text, number)) {
    wire::append_error(call.reply, kNotInteger);
    return false;
  }
  if (number >= 0 && number <= bound) return true;
  wire::append_error(call.reply, complaint);
  return false;
}

bool parse_restore(Call& call, RestoreOptions& options) {
  for (std::size_t i = 4; i < call.args.size(); ++i) {
    const std::string option = upper(call.args[i]);
    const bool more = i + 1 < call.args.size();
    if (option == "REPLACE") {
      options.replace = true;
    } else if (option == "ABSTTL") {
      options.absolute = true;
    } else if (option == "IDLETIME" && more && options.frequency == -1) {
      if (!parse_bounded(call, call.args[++i], kNumberMax,
                         "ERR Invalid IDLETIME value, must be >= 0", options.idle_seconds))
        return false;
    } else if (option == "FREQ" && more && options.idle_seconds == -1) {
      if (!parse_bounded(call, call.args[++i], 255,
                         "ERR Invalid FREQ value, must be >= 0 and <= 255", options.frequency))
        return false;
    } else {
      wire::append_error(call.reply, kSyntax);
      return false;
    }
  }
  return true;
}

void restore(Call& call) {
  RestoreOptions options;
  if (!parse_restore(call, options)) return;
  const std::string_view key = call.args[1];
  if (!options.replace && call.keys.find(key) != nullptr)
    return wire::append_error(call.reply, "BUSYKEY Target key name already exists.");
  std::int64_t ttl_ms = 0;
  if (!parse_bounded(call, call.args[2], kNumberMax, "ERR Invalid TTL value, must be >= 0", ttl_ms))
    return;
  Result<Value> value = undump(call.args[3]);
  if (!value) return wire::append_error(call.reply, "ERR " + value.error().message);
  const std::int64_t now = call.keys.now_ms();
  if (options.replace) call.keys.erase(key);
  if (ttl_ms != 0 && !options.absolute) ttl_ms += now;
  wire::append_status(call.reply, "OK");
  if (ttl_ms != 0 && ttl_ms <= now) return;  // already over: the key is gone
  Entry entry{.value = std::move(*value)};
  if (ttl_ms != 0) entry.expires_ms = ttl_ms;
  if (options.idle_seconds >= 0 && options.idle_seconds < now / 1'000)
    entry.used_ms = now - options.idle_seconds * 1'000;
  if (options.frequency >= 0) entry.frequency = static_cast<std::uint8_t>(options.frequency);
  call.keys.put(key, std::move(entry));
}

void rename(Call& call) {
  const Entry* entry = call.keys.find(call.args[1]);
  if (entry == nullptr) return wire::append_error(call.reply, "ERR no such key");
  if (call.args[1] != call.args[2]) {
    Entry moved = *entry;
    call.keys.erase(call.args[1]);
    call.keys.put(call.args[2], std::move(moved));
  }
  wire::append_status(call.reply, "OK");
}

// ---- looking at keys
// ------------------------------------------------------------------------------

void object(Call& call) {
  const std::string what = upper(call.args[1]);
  if (what != "FREQ" && what != "IDLETIME" && what != "ENCODING" && what != "REFCOUNT")
    return wire::append_error(call.reply,
                              "ERR unknown subcommand '" + call.args[1] + "'. Try OBJECT HELP.");
  const Entry* entry = call.args.size() == 3 ? call.keys.peek(call.args[2]) : nullptr;
  if (entry == nullptr) return wire::append_null(call.reply);
  if (what == "IDLETIME")
    return wire::append_integer(call.reply, (call.keys.now_ms() - entry->used_ms) / 1'000);
  if (what == "REFCOUNT") return wire::append_integer(call.reply, 1);
  if (what == "ENCODING") return wire::append_bulk(call.reply, "raw");
  wire::append_error(call.reply,
                     "ERR An LFU maxmemory policy is not selected, access frequency not tracked. "
                     "Please note that when switching between policies at runtime LRU and LFU data "
                     "will take some time to adjust.");
}

void memory(Call& call) {
  if (upper(call.args[1]) != "USAGE" || call.args.size() < 3)
    return wire::append_error(call.reply,
                              "ERR unknown subcommand '" + call.args[1] + "'. Try MEMORY HELP.");
  const Entry* entry = call.keys.peek(call.args[2]);
  if (entry == nullptr) return wire::append_null(call.reply);
  wire::append_integer(call.reply,
                       static_cast<std::int64_t>(memory_of(call.args[2], entry->value)));
}

void dbsize(Call& call) {
  wire::append_integer(call.reply, static_cast<std::int64_t>(call.keys.size()));
}

// Glob with '*' and '?' only; sets and escapes are not used by the router.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip)
      if (matches(pattern.substr(1), text.substr(skip))) return true;
    return false;
  }
  if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
  return matches(pattern.substr(1), text.substr(1));
}

void scan(Call& call) {
  std::int64_t count = 10;
  std::string pattern = "*";
  for (std::size_t i = 2; i < call.args.size(); i += 2) {
    const std::string option = upper(call.args[i]);
    const bool more = i + 1 < call.args.size();
    if (option == "COUNT" && more) {
      if (!parse_integer(call.args[i + 1], count))
        return wire::append_error(call.reply, kNotInteger);
      if (count < 1) return wire::append_error(call.reply, kSyntax);
    } else if (option == "MATCH" && more) {
      pattern = call.args[i + 1];
    } else {
      return wire::append_error(call.reply, kSyntax);
    }
  }
  std::uint64_t cursor = 0;
  const std::string& text = call.args[1];
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), cursor);
  if (failed != std::errc{} || end != text.data() + text.size())
    return wire::append_error(call.reply, "ERR invalid cursor");
  ScanPage page = call.keys.scan(cursor, static_cast<std::size_t>(count));
  std::erase_if(page.keys, [&](const std::string& key) { return !matches(pattern, key); });
  wire::append_array_header(call.reply, 2);
  wire::append_bulk(call.reply, std::to_string(page.next));
  wire::append_array_header(call.reply, page.keys.size());
  for (const std::string& key : page.keys) wire::append_bulk(call.reply, key);
}

void flush(Call& call) {
  call.keys.clear();
  wire::append_status(call.reply, "OK");
}

// The one script that is sent to servers: a flush that keeps the strings among its keys, as
// proxy/fan_out/everywhere.h has it.
void eval(Call& call) {
  std::int64_t keys = 0;
  if (!call.args[1].contains("FLUSHDB") || !parse_integer(call.args[2], keys) || keys < 0 ||
      std::cmp_greater(keys + 3, call.args.size()))
    return wire::append_error(call.reply, "ERR the model server knows one script");
  const auto kept = call.args.subspan(3, static_cast<std::size_t>(keys));
  std::vector<std::string> doomed;
  for (const auto& [key, entry] : call.keys.entries()) {
    const bool keeps = std::ranges::find(kept, key) != kept.end() &&
                       std::holds_alternative<std::string>(entry.value);
    if (!keeps) doomed.push_back(key);
  }
  // One by one, not "all gone, some back": a crash that loses the last changes loses no kept key.
  for (const std::string& key : doomed) call.keys.erase(key);
  wire::append_status(call.reply, "OK");
}

constexpr CommandInfo kKeyCommands[] = {
    {"dbsize", 1, false, 0, 0, 0, dbsize},
    {"del", -2, true, 1, -1, 1, remove_all},
    {"dump", 2, false, 1, 1, 1, dump_key},
    {"eval", -3, false, 0, 0, 0, eval},  // the real one: by what its script does
    {"exists", -2, false, 1, -1, 1, count_present},
    {"expire", -3, true, 1, 1, 1, expire},
    {"expireat", -3, true, 1, 1, 1, expireat},
    {"expiretime", 2, false, 1, 1, 1, expiretime},
    {"flushall", -1, true, 0, 0, 0, flush},
    {"flushdb", -1, true, 0, 0, 0, flush},
    {"memory", -2, false, 0, 0, 0, memory},
    {"object", -2, false, 0, 0, 0, object},
    {"persist", 2, true, 1, 1, 1, persist},
    {"pexpire", -3, true, 1, 1, 1, pexpire},
    {"pexpireat", -3, true, 1, 1, 1, pexpireat},
    {"pexpiretime", 2, false, 1, 1, 1, pexpiretime},
    {"pttl", 2, false, 1, 1, 1, pttl},
    {"rename", 3, true, 1, 2, 1, rename},
    {"restore", -4, true, 1, 1, 1, restore},
    {"scan", -2, false, 0, 0, 0, scan},
    {"touch", -2, false, 1, -1, 1, count_present},
    {"ttl", 2, false, 1, 1, 1, ttl},
    {"type", 2, false, 1, 1, 1, type},
    {"unlink", -2, true, 1, -1, 1, remove_all},
};

}  // namespace

std::span<const CommandInfo> key_commands() { return kKeyCommands; }

}  // namespace cleave::sim
