#include "route/refusals.h"

#include <algorithm>

#include "base/check.h"
#include "base/own_names.h"
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
  CHECK(!args.empty());
  std::string rest;
  for (std::size_t i = 1; i < args.size() && rest.size() < kShownBytesMax; ++i) {
    const std::string_view arg = shown(args[i], kShownBytesMax - rest.size());
    rest.append("'").append(arg).append("' ");
  }
  return "ERR unknown command '" + std::string(shown(args[0])) +
         "', with args beginning with: " + rest;
}

std::string unknown_subcommand(std::span<const std::string_view> args) {
  CHECK(args.size() > 1);
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

std::string key_refusal(std::string_view key, const Limits& limits) {
  if (key.starts_with(kOwnKeyPrefix)) {
    return "ERR keys beginning with 'cleave:{' are the router's own";
  }
  if (key.size() <= limits.key_bytes_max) return {};
  return "ERR a key of " + std::to_string(key.size()) + " bytes is longer than the " +
         std::to_string(limits.key_bytes_max) + " that the router takes";
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
