#include "control/moves/preflight.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include "backend/big_value.h"
#include "backend/refusal.h"
#include "base/check.h"

namespace cleave::control {
namespace {

using backend::Commands;
using backend::End;
using backend::Keys;
using backend::kMarkerKey;
using backend::Replies;

constexpr std::string_view kNoConnection = "9223372036854775807";  // the id of no connection
constexpr std::string_view kFarOff = "4102444800000";              // 2100, in milliseconds
constexpr std::size_t kSampleMax = 64;

constexpr std::string_view kProbe = "cleave:{move}:probe";
static_assert(kProbe.starts_with(backend::kMovePrefix));

// What a move sends to its source. The marker is a string: what is meant for other types is
// answered by WRONGTYPE, after the server has looked at the user's rights.
void ask_source(Commands& commands) {
  commands.add({"DUMP", kMarkerKey});  // the first: its reply is needed
  commands.add({"DBSIZE"});            // the second, likewise
  for (const std::initializer_list<std::string_view> each :
       {std::initializer_list<std::string_view>{"PTTL", kMarkerKey},
        {"MEMORY", "USAGE", kMarkerKey},
        {"OBJECT", "IDLETIME", kMarkerKey},
        {"OBJECT", "FREQ", kMarkerKey},
        {"TYPE", kMarkerKey},
        {"STRLEN", kMarkerKey},
        {"GETRANGE", kMarkerKey, "0", "0"},
        {"LLEN", kMarkerKey},
        {"LRANGE", kMarkerKey, "0", "0"},
        {"HLEN", kMarkerKey},
        {"HSCAN", kMarkerKey, "0"},
        {"HKEYS", kMarkerKey},
        {"HSTRLEN", kMarkerKey, "f"},
        {"HMGET", kMarkerKey, "f"},
        {"SCARD", kMarkerKey},
        {"SSCAN", kMarkerKey, "0"},
        {"ZCARD", kMarkerKey},
        {"ZSCAN", kMarkerKey, "0"},
        {"XINFO", "STREAM", kMarkerKey},
        {"XINFO", "GROUPS", kMarkerKey},
        {"XINFO", "CONSUMERS", kMarkerKey, "g"},
        {"XPENDING", kMarkerKey, "g"},
        {"XRANGE", kMarkerKey, "-", "+"},
        {"TIME"},
        {"CLIENT", "KILL", "ID", kNoConnection}}) {
    commands.add(each);
  }
  commands.add({"UNLINK", kProbe});
}
constexpr std::size_t kDump = 0;
constexpr std::size_t kDbsize = 1;

// And to its destination.
void ask_destination(Commands& commands, std::string_view payload) {
  commands.add({"RESTORE", kProbe, "0", payload, "REPLACE", "ABSTTL"});  // the first
  commands.add({"DUMP", kMarkerKey});                                    // the second
  commands.add({"INFO", "memory"});                                      // the third
  commands.add({"APPEND", kProbe, ""});
  commands.add({"RPUSH", kProbe, "e"});
  commands.add({"HSET", kProbe, "f", "v"});
  commands.add({"SADD", kProbe, "m"});
  commands.add({"ZADD", kProbe, "0", "m"});
  commands.add({"XADD", kProbe, "*", "f", "v"});
  commands.add({"XGROUP", "CREATE", kProbe, "g", "0"});
  commands.add({"XGROUP", "CREATECONSUMER", kProbe, "g", "c"});
  commands.add({"XCLAIM", kProbe, "g", "c", "0", "0-1"});
  commands.add({"XDEL", kProbe, "0-1"});
  commands.add({"XTRIM", kProbe, "MAXLEN", "0"});
  commands.add({"XSETID", kProbe, "0-1"});
  commands.add({"PEXPIREAT", kProbe, kFarOff});
  commands.add({"RENAME", kProbe, kProbe});
  commands.add({"EXISTS", kProbe});
  commands.add({"UNLINK", kProbe});
  commands.add({"CLIENT", "KILL", "ID", kNoConnection});
}
constexpr std::size_t kRestore = 0;
constexpr std::size_t kOwnDump = 1;
constexpr std::size_t kMemory = 2;

bool is_unknown(const wire::Reply& reply) {
  return reply.text.starts_with("ERR unknown command") ||
         reply.text.starts_with("ERR unknown subcommand");
}

// Each of OBJECT IDLETIME and FREQ is there under the policies under which the other is not.
bool is_of_policy(const wire::Reply& reply) {
  return reply.text.starts_with("ERR An LFU maxmemory policy");
}

// One preflight; owns itself until it has answered.
class Preflight : public std::enable_shared_from_this<Preflight> {
 public:
  Preflight(PreflightOrder order, std::weak_ptr<void> alive,
            std::function<void(PreflightResult)> done)
      : order_(std::move(order)), alive_(std::move(alive)), done_(std::move(done)) {
    CHECK(!order_.source.store.expired() && !order_.destination.store.expired());
    CHECK(order_.share_ppm <= 1'000'000 && order_.in_range != nullptr && done_ != nullptr);
  }

  void begin() {
    Commands commands;
    ask_source(commands);
    ask(End::kSource, commands, [this](const Replies& replies) {
      if (!objection(End::kSource, replies).empty()) return;
      payload_ = replies[kDump].text;
      keys_ = static_cast<std::uint64_t>(std::max<std::int64_t>(replies[kDbsize].integer, 0));
      // Without a marker the move is refused for that.
      if (payload_.empty()) return answer({});
      sample();
    });
  }

 private:
  using Then = std::function<void(const Replies&)>;

  PreflightEnd& end(End which) {
    return which == End::kSource ? order_.source : order_.destination;
  }

  void ask(End which, const Commands& commands, Then then) {
    const auto open = end(which).store.lock();
    if (open == nullptr) return;  // the term is over, and nobody waits
    open->run(commands, [self = shared_from_this(), which,
                         then = std::move(then)](Result<Replies> replies) {
      if (self->alive_.expired()) return;
      if (replies) return then(*replies);
      self->answer({.why = self->end(which).name + ": " + replies.error().message, .at = which});
    });
  }

  // What a move will take, by some of the keys that it moves.
  void sample() {
    Commands commands;
    commands.add({"SCAN", "0", "COUNT", "200"});
    ask(End::kSource, commands, [this](const Replies& replies) {
      if (!objection(End::kSource, replies).empty()) return;
      Commands sizes;
      if (replies.front().elements.size() == 2) {
        for (const wire::Reply& key : replies.front().elements[1].elements) {
          if (sizes.size() < kSampleMax && order_.in_range(key.text))
            sizes.add({"MEMORY", "USAGE", key.text});
        }
      }
      if (sizes.empty()) return try_destination();
      ask(End::kSource, sizes, [this](const Replies& seen) {
        if (!objection(End::kSource, seen, Keys::kOfClients).empty()) return;
        std::uint64_t bytes = 0;
        for (const wire::Reply& each : seen) bytes += static_cast<std::uint64_t>(each.integer);
        expected_bytes_ = bytes / seen.size() * keys_ / 1'000'000 * order_.share_ppm +
                          bytes / seen.size() * (keys_ % 1'000'000) * order_.share_ppm / 1'000'000;
        try_destination();
      });
    });
  }

  void try_destination() {
    CHECK(!payload_.empty());
    Commands commands;
    ask_destination(commands, payload_);
    ask(End::kDestination, commands, [this](const Replies& replies) {
      if (replies[kRestore].text.starts_with("ERR DUMP payload")) return misfit(replies);
      if (!objection(End::kDestination, replies).empty()) return;
      look_at_room(replies[kMemory].text);
    });
  }

  void misfit(const Replies& replies) {
    const auto version = [](const std::string& payload) {
      return std::to_string(backend::rdb_version_of(payload));
    };
    answer({.why = order_.source.name + " writes values in RDB version " + version(payload_) +
                   ", which " + order_.destination.name + " does not read (it writes " +
                   version(replies[kOwnDump].text) +
                   "): moves go the other way only (the destination's words: " +
                   replies[kRestore].text + ")",
            .at = End::kDestination});
  }

  void look_at_room(std::string_view memory) {
    const std::uint64_t most = backend::info_number(memory, "maxmemory");
    const std::uint64_t used = backend::info_number(memory, "used_memory");
    const bool evicts = backend::info_field(memory, "maxmemory_policy") != "noeviction";
    if (most == 0 || evicts || used + expected_bytes_ <= most) return answer({});
    answer({.why = order_.destination.name + " has no room: it uses " + std::to_string(used) +
                   " of " + std::to_string(most) + " bytes (maxmemory, noeviction), and about " +
                   std::to_string(expected_bytes_) + " would come, so that it would answer OOM",
            .at = End::kDestination});
  }

  // Answers with what the server says against it; "": nothing.
  std::string objection(End which, const Replies& replies, Keys keys = Keys::kOwn) {
    std::string why;
    for (const wire::Reply& reply : replies) {
      if (!reply.is_error() || backend::blame_of(reply.text) != backend::Blame::kServer) continue;
      if (is_unknown(reply) && &reply != &replies.front()) continue;
      if (is_of_policy(reply)) continue;
      why = reply.text;
      break;
    }
    if (why.empty()) return why;
    if (why.starts_with("NOPERM")) {
      tell_rights(which, why, replies, keys);
    } else {
      answer({.why = end(which).name + " refuses what a move needs: " + why, .at = which});
    }
    return why;
  }

  // The line to copy needs the user's name, which only the server knows for certain.
  void tell_rights(End which, const std::string& words, const Replies& replies, Keys keys) {
    Commands commands;
    commands.add({"ACL", "WHOAMI"});
    ask(which, commands, [this, which, words, replies, keys](const Replies& whoami) {
      const bool known = whoami.front().type == wire::Reply::Type::kBulk;
      const std::string_view user = known ? std::string_view(whoami.front().text) : "default";
      std::string why = end(which).name;
      why.append(" denies the user '").append(user).append("' what a move needs: ");
      why.append(words)
          .append("; allow it there with: ")
          .append(backend::missing_rights(user, replies, keys));
      answer({.why = std::move(why), .at = which});
    });
  }

  void answer(PreflightResult result) {
    CHECK(!std::exchange(answered_, true));
    done_(std::move(result));
  }

  PreflightOrder order_;
  std::weak_ptr<void> alive_;
  std::function<void(PreflightResult)> done_;
  std::string payload_;
  std::uint64_t keys_ = 0;
  std::uint64_t expected_bytes_ = 0;
  bool answered_ = false;
};

}  // namespace

void preflight(PreflightOrder order, std::weak_ptr<void> alive,
               std::function<void(PreflightResult)> done) {
  std::make_shared<Preflight>(std::move(order), std::move(alive), std::move(done))->begin();
}

}  // namespace cleave::control
