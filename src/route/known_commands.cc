#include "route/known_commands.h"

#include <algorithm>
#include <array>

namespace cleave::route {
namespace {

struct Known {
  std::string_view name;
  Handling handling;
};

constexpr Handling everywhere(Merge merge) {
  return {.action = Action::kEverywhere, .merge = merge};
}

constexpr Handling split(Merge merge, std::uint32_t args_per_key = 1) {
  return {.action = Action::kSplit, .merge = merge, .args_per_key = args_per_key};
}

constexpr Handling special(Special which) { return {.special = which}; }

constexpr Handling refused(std::string_view why) {
  return {.action = Action::kRefuse, .reason = why};
}

constexpr std::string_view kNoTransactions =
    "transactions do not pass through the router; a script (EVAL) over keys of one {hash tag} is "
    "as atomic";
constexpr std::string_view kWholeKeyspace = "it would have to walk the keys of every server";
constexpr std::string_view kOneDatabase = "there is only database 0";
constexpr std::string_view kSharedConnection =
    "it concerns the connection to one server, and many clients share that";
constexpr std::string_view kNoCluster = "This instance has cluster support disabled";
constexpr std::string_view kScriptStore =
    "every server keeps its own; send EVAL, or load it on each server itself";

// Sorted by name.
constexpr std::array kKnown{
    Known{"acl", refused("users are the router's own")},
    Known{"asking", refused(kNoCluster)},
    Known{"cluster", refused(kNoCluster)},
    Known{"config", refused(kOperatorsOnly)},
    Known{"copy", special(Special::kCopy)},
    Known{"dbsize", everywhere(Merge::kSumIntegers)},
    Known{"debug", refused(kOperatorsOnly)},
    Known{"del", split(Merge::kSumIntegers)},
    Known{"eval", special(Special::kScript)},
    Known{"eval_ro", special(Special::kScript)},
    Known{"evalsha", special(Special::kScript)},
    Known{"evalsha_ro", special(Special::kScript)},
    Known{"exists", split(Merge::kSumIntegers)},
    Known{"fcall", special(Special::kScript)},
    Known{"fcall_ro", special(Special::kScript)},
    Known{"flushall", everywhere(Merge::kAllOk)},
    Known{"flushdb", everywhere(Merge::kAllOk)},
    Known{"function", refused(kScriptStore)},
    Known{"keys", refused(kWholeKeyspace)},
    Known{"lastsave", refused(kOperatorsOnly)},
    Known{"latency", refused(kOperatorsOnly)},
    Known{"mget", split(Merge::kArrayInOrder)},
    Known{"migrate", refused("it would move keys past the router")},
    Known{"module", refused(kOperatorsOnly)},
    Known{"move", refused(kOneDatabase)},
    Known{"mset", split(Merge::kAllOk, 2)},
    Known{"pubsub", refused(kNoMessages)},
    Known{"randomkey", refused(kWholeKeyspace)},
    Known{"readonly", refused(kNoCluster)},
    Known{"readwrite", refused(kNoCluster)},
    Known{"role", refused(kOperatorsOnly)},
    Known{"scan", refused(kWholeKeyspace)},
    Known{"script", refused(kScriptStore)},
    Known{"slowlog", refused(kOperatorsOnly)},
    Known{"sort", special(Special::kSort)},
    Known{"sort_ro", special(Special::kSort)},
    Known{"swapdb", refused(kOneDatabase)},
    Known{"touch", split(Merge::kSumIntegers)},
    Known{"unlink", split(Merge::kSumIntegers)},
    Known{"unwatch", refused(kNoTransactions)},
    Known{"wait", refused(kSharedConnection)},
    Known{"waitaof", refused(kSharedConnection)},
    Known{"watch", refused(kNoTransactions)},
    Known{"xread", special(Special::kStreams)},
    Known{"xreadgroup", special(Special::kStreams)},
};
static_assert(std::ranges::is_sorted(kKnown, {}, &Known::name));

KeySpec one(std::int32_t index) { return {.index = index}; }

KeySpec counted(std::int32_t index) {
  return {.index = index, .find = KeySpec::Find::kKeynum, .first_key = 1};
}

KeySpec after(std::string_view keyword, std::int32_t from) {
  return {.begin = KeySpec::Begin::kKeyword, .index = from, .keyword = std::string(keyword)};
}

}  // namespace

std::optional<Handling> known_handling(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kKnown, name, {}, &Known::name);
  if (found == kKnown.end() || found->name != name) return std::nullopt;
  return found->handling;
}

std::vector<KeySpec> known_keys(std::string_view name) {
  if (name == "eval" || name == "evalsha") return {counted(2)};
  if (name == "zunion" || name == "zinter" || name == "zdiff") return {counted(1)};
  if (name == "zunionstore" || name == "zinterstore" || name == "zdiffstore") {
    return {one(1), counted(2)};
  }
  if (name == "georadius") return {one(1), after("STORE", 6), after("STOREDIST", 6)};
  if (name == "georadiusbymember") return {one(1), after("STORE", 5), after("STOREDIST", 5)};
  if (name == "memory") return {one(2)};
  return {};
}

}  // namespace cleave::route
