// GET, SET and what else works on strings.
#include <algorithm>
#include <limits>
#include <optional>

#include "sim/model/command.h"

namespace cleave::sim {
namespace {

constexpr std::size_t kValueMax = std::size_t{512} << 20U;

void append_optional(std::string& reply, const std::string* text) {
  if (text == nullptr)
    wire::append_null(reply);
  else
    wire::append_bulk(reply, *text);
}

void get(Call& call) {
  const auto found = find_as<std::string>(call, call.args[1]);
  if (!found.wrong_type) append_optional(call.reply, found.value);
}

struct SetOptions {
  bool if_absent = false;
  bool if_present = false;
  bool answer_old = false;
  bool keep_expiry = false;
  std::int64_t expires_ms = kNever;
};

// The expiry units by their option's name.
std::optional<ExpiryUnit> expiry_unit(std::string_view option) {
  if (option == "EX") return ExpiryUnit{.in_seconds = true};
  if (option == "PX") return ExpiryUnit{};
  if (option == "EXAT") return ExpiryUnit{.in_seconds = true, .absolute = true};
  if (option == "PXAT") return ExpiryUnit{.absolute = true};
  return std::nullopt;
}

bool parse_set(Call& call, SetOptions& options) {
  std::size_t expiry_at = 0;
  ExpiryUnit unit;
  for (std::size_t i = 3; i < call.args.size(); ++i) {
    const std::string option = upper(call.args[i]);
    const auto expiry = expiry_unit(option);
    if (option == "NX" && !options.if_present) {
      options.if_absent = true;
    } else if (option == "XX" && !options.if_absent) {
      options.if_present = true;
    } else if (option == "GET") {
      options.answer_old = true;
    } else if (option == "KEEPTTL" && expiry_at == 0) {
      options.keep_expiry = true;
    } else if (expiry && expiry_at == 0 && !options.keep_expiry && i + 1 < call.args.size()) {
      unit = *expiry;
      expiry_at = ++i;
    } else {
      wire::append_error(call.reply, kSyntax);
      return false;
    }
  }
  return expiry_at == 0 || parse_expiry(call, call.args[expiry_at], unit, options.expires_ms);
}

void set(Call& call) {
  SetOptions options;
  if (!parse_set(call, options)) return;
  const std::string_view key = call.args[1];
  if (options.answer_old) {
    const auto old = find_as<std::string>(call, key);
    if (old.wrong_type) return;
    append_optional(call.reply, old.value);
  }
  const Entry* present = call.keys.find(key);
  if ((options.if_absent && present != nullptr) || (options.if_present && present == nullptr)) {
    if (!options.answer_old) wire::append_null(call.reply);
    return;
  }
  Entry entry{.value = call.args[2], .expires_ms = options.expires_ms};
  if (options.keep_expiry && present != nullptr) entry.expires_ms = present->expires_ms;
  call.keys.put(key, std::move(entry));
  if (!options.answer_old) wire::append_status(call.reply, "OK");
}

void setnx(Call& call) {
  const bool absent = call.keys.find(call.args[1]) == nullptr;
  if (absent) call.keys.put(call.args[1], {.value = call.args[2]});
  wire::append_integer(call.reply, absent ? 1 : 0);
}

void set_expiring(Call& call, ExpiryUnit unit) {
  Entry entry{.value = call.args[3]};
  if (!parse_expiry(call, call.args[2], unit, entry.expires_ms)) return;
  call.keys.put(call.args[1], std::move(entry));
  wire::append_status(call.reply, "OK");
}

void setex(Call& call) { set_expiring(call, {.in_seconds = true}); }
void psetex(Call& call) { set_expiring(call, {}); }

void getset(Call& call) {
  const auto old = find_as<std::string>(call, call.args[1]);
  if (old.wrong_type) return;
  append_optional(call.reply, old.value);
  call.keys.put(call.args[1], {.value = call.args[2]});
}

void getdel(Call& call) {
  const auto old = find_as<std::string>(call, call.args[1]);
  if (old.wrong_type) return;
  append_optional(call.reply, old.value);
  call.keys.erase(call.args[1]);
}

void getex(Call& call) {
  std::int64_t expires_ms = kNever;
  bool persist = false;
  if (call.args.size() == 3 && upper(call.args[2]) == "PERSIST") {
    persist = true;
  } else if (call.args.size() == 4 && expiry_unit(upper(call.args[2]))) {
    const auto unit = expiry_unit(upper(call.args[2]));
    // A missing key is answered before the time is looked at.
    const auto found = find_as<std::string>(call, call.args[1]);
    if (found.wrong_type) return;
    if (found.value == nullptr) return wire::append_null(call.reply);
    if (!parse_expiry(call, call.args[3], *unit, expires_ms)) return;
  } else if (call.args.size() != 2) {
    return wire::append_error(call.reply, kSyntax);
  }
  const auto found = find_as<std::string>(call, call.args[1]);
  if (found.wrong_type) return;
  append_optional(call.reply, found.value);
  if (found.value == nullptr) return;
  if (expires_ms != kNever && expires_ms <= call.keys.now_ms()) {
    call.keys.erase(call.args[1]);
  } else if (expires_ms != kNever || persist) {
    call.keys.edit(call.args[1])->expires_ms = expires_ms;
  }
}

void add(Call& call, std::int64_t delta) {
  const auto found = find_as<std::string>(call, call.args[1]);
  if (found.wrong_type) return;
  std::int64_t number = 0;
  if (found.value != nullptr && !parse_integer(*found.value, number))
    return wire::append_error(call.reply, kNotInteger);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(number, delta, &sum))
    return wire::append_error(call.reply, "ERR increment or decrement would overflow");
  edit_as<std::string>(call, call.args[1]) = std::to_string(sum);
  wire::append_integer(call.reply, sum);
}

void incr(Call& call) { add(call, 1); }
void decr(Call& call) { add(call, -1); }

void incrby(Call& call) {
  std::int64_t delta = 0;
  if (!parse_integer(call.args[2], delta)) return wire::append_error(call.reply, kNotInteger);
  add(call, delta);
}

void decrby(Call& call) {
  std::int64_t delta = 0;
  if (!parse_integer(call.args[2], delta)) return wire::append_error(call.reply, kNotInteger);
  if (delta == std::numeric_limits<std::int64_t>::min())
    return wire::append_error(call.reply, "ERR decrement would overflow");
  add(call, -delta);
}

void append(Call& call) {
  if (find_as<std::string>(call, call.args[1]).wrong_type) return;
  std::string& value = edit_as<std::string>(call, call.args[1]);
  value += call.args[2];
  wire::append_integer(call.reply, static_cast<std::int64_t>(value.size()));
}

void string_length(Call& call) {
  const auto found = find_as<std::string>(call, call.args[1]);
  if (found.wrong_type) return;
  const std::size_t size = found.value == nullptr ? 0 : found.value->size();
  wire::append_integer(call.reply, static_cast<std::int64_t>(size));
}

void setrange(Call& call) {
  std::int64_t offset = 0;
  if (!parse_integer(call.args[2], offset)) return wire::append_error(call.reply, kNotInteger);
  if (offset < 0) return wire::append_error(call.reply, "ERR offset is out of range");
  const auto found = find_as<std::string>(call, call.args[1]);
  if (found.wrong_type) return;
  const std::string& patch = call.args[3];
  if (patch.empty()) return string_length(call);
  const auto end = static_cast<std::size_t>(offset) + patch.size();
  if (end > kValueMax)
    return wire::append_error(call.reply,
                              "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  std::string& value = edit_as<std::string>(call, call.args[1]);
  if (value.size() < end) value.resize(end, '\0');
  value.replace(static_cast<std::size_t>(offset), patch.size(), patch);
  wire::append_integer(call.reply, static_cast<std::int64_t>(value.size()));
}

void getrange(Call& call) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (!parse_integer(call.args[2], first) || !parse_integer(call.args[3], last))
    return wire::append_error(call.reply, kNotInteger);
  const auto found = find_as<std::string>(call, call.args[1]);
  if (found.wrong_type) return;
  const auto size = static_cast<std::int64_t>(found.value == nullptr ? 0 : found.value->size());
  if (first < 0 && last < 0 && first > last) return wire::append_bulk(call.reply, "");
  if (first < 0) first = std::max<std::int64_t>(0, first + size);
  if (last < 0) last = std::max<std::int64_t>(0, last + size);
  last = std::min(last, size - 1);
  if (first > last || size == 0) return wire::append_bulk(call.reply, "");
  wire::append_bulk(call.reply, std::string_view(*found.value)
                                    .substr(static_cast<std::size_t>(first),
                                            static_cast<std::size_t>(last - first + 1)));
}

void mget(Call& call) {
  wire::append_array_header(call.reply, call.args.size() - 1);
  for (const std::string& key : call.args.subspan(1)) {
    const Entry* entry = call.keys.find(key);
    append_optional(call.reply,
                    entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value));
  }
}

void mset(Call& call) {
  if (call.args.size() % 2 == 0)
    return wire::append_error(call.reply, "ERR wrong number of arguments for 'mset' command");
  for (std::size_t i = 1; i < call.args.size(); i += 2)
    call.keys.put(call.args[i], {.value = call.args[i + 1]});
  wire::append_status(call.reply, "OK");
}

constexpr CommandInfo kStringCommands[] = {
    {"append", 3, true, 1, 1, 1, append},      {"decr", 2, true, 1, 1, 1, decr},
    {"decrby", 3, true, 1, 1, 1, decrby},      {"get", 2, false, 1, 1, 1, get},
    {"getdel", 2, true, 1, 1, 1, getdel},      {"getex", -2, true, 1, 1, 1, getex},
    {"getrange", 4, false, 1, 1, 1, getrange}, {"getset", 3, true, 1, 1, 1, getset},
    {"incr", 2, true, 1, 1, 1, incr},          {"incrby", 3, true, 1, 1, 1, incrby},
    {"mget", -2, false, 1, -1, 1, mget},       {"mset", -3, true, 1, -1, 2, mset},
    {"psetex", 4, true, 1, 1, 1, psetex},      {"set", -3, true, 1, 1, 1, set},
    {"setex", 4, true, 1, 1, 1, setex},        {"setnx", 3, true, 1, 1, 1, setnx},
    {"setrange", 4, true, 1, 1, 1, setrange},  {"strlen", 2, false, 1, 1, 1, string_length},
};

}  // namespace

std::span<const CommandInfo> string_commands() { return kStringCommands; }

}  // namespace cleave::sim
