#include "route/refusals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "route/known_commands.h"

namespace cleave::route {
namespace {

using Args = std::span<const std::string_view>;

constexpr std::size_t kShownBytesMax = 128;

// As C's "%.128s" shows it: up to the first NUL, and not more than `bytes_max`.
std::string_view shown(std::string_view text, std::size_t bytes_max = kShownBytesMax) {
  text = text.substr(0, bytes_max);
  return text.substr(0, text.find('\0'));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string select_refusal(const CommandSpec& spec, Args args) {
  const auto database = number(args[1]);
  if (!database) return "ERR value is not an integer or out of range";
  if (*database == 0) return {};
  return not_supported(spec, "there is only database 0");
}

std::string hello_refusal(Args args) {
  if (args.size() < 2) return {};
  const auto version = number(args[1]);
  if (!version) return "ERR Protocol version is not an integer or out of range";
  return *version == 2 ? "" : "NOPROTO unsupported protocol version";
}

// The container's own specification is found where the second word is not a subcommand's name.
bool names_no_subcommand(const CommandSpec& spec, Args args) {
  return !spec.subcommands.empty() && args.size() > 1;
}

std::string client_refusal(const CommandSpec& spec, Args args) {
  // SETINFO is newer than Redis 7.0, but client libraries send it to whatever they find.
  constexpr std::array<std::string_view, 6> kOwn{"setname", "getname", "id",
                                                 "info",    "list",    "setinfo"};
  if (std::ranges::any_of(kOwn, [&](auto word) { return same_word(word, args[1]); })) return {};
  if (names_no_subcommand(spec, args)) return unknown_subcommand(args);
  return not_supported(spec, "connections to the servers are shared by many clients");
}

bool may_block(Args args) {
  for (std::size_t i = 1; i < args.size() && !same_word(args[i], "streams"); ++i) {
    if (same_word(args[i], "block")) return true;
    if (same_word(args[i], "group")) i += 2;  // the names of a group and of a consumer
  }
  return false;
}

bool names_database(Args args) {
  return args.size() > 3 &&
         std::ranges::any_of(args.subspan(3), [](auto arg) { return same_word(arg, "db"); });
}

}  // namespace

std::string unknown_command(std::span<const std::string_view> args) {
  std::string rest;
  for (std::size_t i = 1; i < args.size() && rest.size() < kShownBytesMax; ++i) {
    const std::string_view arg = shown(args[i], kShownBytesMax - rest.size());
    rest.append("'").append(arg).append("' ");
  }
  return "ERR unknown command '" + std::string(shown(args[0])) +
         "', with args beginning with: " + rest;
}

std::string unknown_subcommand(std::span<const std::string_view> args) {
  std::string container(args[0]);
  for (char& letter : container) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - ('a' - 'A'));
  }
  return "ERR unknown subcommand '" + std::string(shown(args[1])) + "'. Try " + container +
         " HELP.";
}

std::string wrong_arity(const CommandSpec& spec) {
  return "ERR wrong number of arguments for '" + spec.name + "' command";
}

std::string not_supported(const CommandSpec& spec, std::string_view reason) {
  return "ERR '" + spec.name + "' is not supported: " + std::string(reason);
}

std::string local_refusal(const CommandSpec& spec, std::span<const std::string_view> args) {
  switch (spec.handling.local) {
    case Local::kSelect: return select_refusal(spec, args);
    case Local::kHello: return hello_refusal(args);
    case Local::kClient: return client_refusal(spec, args);
    case Local::kCommand: return names_no_subcommand(spec, args) ? unknown_subcommand(args) : "";
    default: return {};
  }
}

std::string special_refusal(const CommandSpec& spec, std::span<const std::string_view> args) {
  if (spec.handling.special == Special::kStreams && may_block(args)) {
    return "ERR '" + spec.name + "' with BLOCK is not supported: " + std::string(kNoBlocking);
  }
  if (spec.handling.special == Special::kCopy && names_database(args)) {
    return "ERR '" + spec.name + "' with DB is not supported: there is only database 0";
  }
  return {};
}

}  // namespace cleave::route
