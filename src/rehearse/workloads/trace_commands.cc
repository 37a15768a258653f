#include "rehearse/workloads/trace_commands.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"

namespace cleave::rehearse {
namespace {

// Sorted. Everything else that has a key writes, as far as a trace is concerned.
constexpr std::array<std::string_view, 71> kReads{
    "bitcount",     "bitfield_ro",   "bitpos",    "dump",      "eval_ro",    "evalsha_ro",
    "exists",       "expiretime",    "fcall_ro",  "geodist",   "geohash",    "geopos",
    "georadius_ro", "geosearch",     "get",       "getbit",    "getrange",   "gets",
    "hexists",      "hget",          "hgetall",   "hkeys",     "hlen",       "hmget",
    "hrandfield",   "hscan",         "hstrlen",   "hvals",     "lcs",        "lindex",
    "llen",         "lpos",          "lrange",    "memory",    "mget",       "object",
    "pexpiretime",  "pfcount",       "pttl",      "read",      "scard",      "sdiff",
    "sinter",       "sintercard",    "sismember", "smembers",  "smismember", "sort_ro",
    "srandmember",  "sscan",         "strlen",    "substr",    "sunion",     "ttl",
    "type",         "xinfo",         "xlen",      "xpending",  "xrange",     "xread",
    "xrevrange",    "zcard",         "zcount",    "zlexcount", "zmscore",    "zrandmember",
    "zrange",       "zrangebyscore", "zrank",     "zrevrange", "zscore"};
static_assert(std::ranges::is_sorted(kReads));

constexpr std::array<std::string_view, 49> kKeyless{
    "acl",      "asking",    "auth",         "bgrewriteaof", "bgsave",     "client",
    "cluster",  "command",   "config",       "dbsize",       "debug",      "discard",
    "echo",     "exec",      "failover",     "flushall",     "flushdb",    "function",
    "hello",    "info",      "keys",         "lastsave",     "latency",    "lolwut",
    "module",   "monitor",   "multi",        "ping",         "psubscribe", "psync",
    "publish",  "pubsub",    "punsubscribe", "quit",         "randomkey",  "readonly",
    "replconf", "replicaof", "reset",        "role",         "save",       "scan",
    "script",   "select",    "shutdown",     "slowlog",      "subscribe",  "unsubscribe",
    "unwatch"};
static_assert(std::ranges::is_sorted(kKeyless));

// NUMKEYS is the second argument of scripts and functions; none may follow.
std::size_t script_key(std::span<const std::string> arguments) {
  if (arguments.size() < 4) return 0;
  std::uint32_t keys = 0;
  const std::string& text = arguments[2];
  (void)std::from_chars(text.data(), text.data() + text.size(), keys);
  return keys == 0 ? 0 : 3;
}

std::size_t stream_key(std::span<const std::string> arguments) {
  for (std::size_t at = 1; at + 1 < arguments.size(); ++at) {
    if (lowered(arguments[at]) == "streams") return at + 1;
  }
  return 0;
}

std::size_t key_of(std::string_view name, std::span<const std::string> arguments) {
  constexpr std::array<std::string_view, 6> kScripts{"eval",       "eval_ro", "evalsha",
                                                     "evalsha_ro", "fcall",   "fcall_ro"};
  constexpr std::array<std::string_view, 5> kSecond{"bitop", "memory", "object", "xgroup", "xinfo"};
  if (std::ranges::binary_search(kKeyless, name)) return 0;
  if (std::ranges::find(kScripts, name) != kScripts.end()) return script_key(arguments);
  if (name == "xread" || name == "xreadgroup") return stream_key(arguments);
  return std::ranges::find(kSecond, name) != kSecond.end() ? 2 : 1;
}

}  // namespace

TraceCommand trace_command(std::span<const std::string> arguments) {
  if (arguments.empty()) return {.key = 0};
  const std::string name = lowered(arguments[0]);
  const std::size_t key = key_of(name, arguments);
  return {.key = key < arguments.size() ? key : 0, .access = trace_access(name)};
}

heat::Access trace_access(std::string_view operation) {
  const bool reads = std::ranges::binary_search(kReads, lowered(operation));
  return reads ? heat::Access::kRead : heat::Access::kWrite;
}

}  // namespace cleave::rehearse
