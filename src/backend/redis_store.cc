#include "backend/redis_store.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "backend/greeting.h"
#include "backend/refusal.h"
#include "base/check.h"

namespace cleave::backend {
namespace {

// TIME: seconds and microseconds.
std::int64_t time_ms(const wire::Reply& reply) {
  if (reply.elements.size() != 2) return 0;
  return to_number(reply.elements[0].text) * 1'000 + to_number(reply.elements[1].text) / 1'000;
}

// "7.0.15" -> 7.
std::int64_t major_version(std::string_view version) {
  return to_number(version.substr(0, version.find('.')));
}

// What a StoreIdentity is made of: the replies to these come first, in this order.
void add_identity(Commands& commands) {
  commands.add({"INFO", "server"});
  commands.add({"INFO", "replication"});
  commands.add({"GET", kMarkerKey});
  commands.add({"TIME"});
  commands.add({"GET", kRingKey});
}
constexpr std::size_t kNoteReply = 4;
constexpr std::size_t kIdentityReplies = 5;

// When the replies came, by our own clock, and how long after they were asked for.
struct Answered {
  Instant at{0};
  nanoseconds round_trip{0};
  std::string_view user = {};  // ours
};

// TIME's reply tells the clock to half its round trip: one that took longer, because the server had
// something else to do, is asked again, at most so often, and the shortest counts.
constexpr milliseconds kClockTripMax{10};
constexpr std::uint32_t kClockTripsMax = 5;

// The server's clock less our own steady one.
std::int64_t clock_ms(const wire::Reply& time, const Answered& answered) {
  const Instant middle = answered.at - answered.round_trip / 2;
  return time_ms(time) - std::chrono::duration_cast<milliseconds>(middle).count();
}

// Whom the server knows our connections as.
std::string user_of(const Credentials& credentials) {
  return credentials.user.empty() ? "default" : credentials.user;
}

// What the server says, and what to do about it where that is a right that the user lacks.
Error refusal_of(std::string_view words, std::string_view user,
                 std::span<const wire::Reply> replies) {
  std::string text = "the server refused: " + std::string(words);
  const std::string line = missing_rights(user, replies, Keys::kOwn);
  if (!line.empty()) text += "; allow it there with: " + line;
  return {Code::kUnavailable, std::move(text)};
}

Result<StoreIdentity> parse_identity(std::span<const wire::Reply> replies,
                                     const Answered& answered) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    // An older line of access rights names the marker alone.
    if (replies[i].is_error() && i != kNoteReply)
      return std::unexpected(refusal_of(replies[i].text, answered.user, replies));
  }
  const std::string& replication = replies[1].text;
  StoreIdentity identity;
  identity.incarnation = {std::string(info_field(replies[0].text, "run_id")),
                          std::string(info_field(replication, "master_replid"))};
  if (identity.incarnation.run_id.empty())
    return fail(Code::kInvalid, "the server's INFO names no run_id: is it a Redis server?");
  if (const auto usable = check_mode(replies[0].text); !usable) {
    return std::unexpected(usable.error());
  }
  identity.primary = info_field(replication, "role") == "master";
  identity.replicas = static_cast<std::uint32_t>(info_number(replication, "connected_slaves"));
  identity.offset = info_number(replication, "master_repl_offset");
  identity.former_replication_id = info_field(replication, "master_replid2");
  // -1 where there was no life before.
  const std::int64_t former = to_number(info_field(replication, "second_repl_offset"));
  identity.former_offset = former > 0 ? static_cast<std::uint64_t>(former) : 0;
  identity.mark = replies[2].text;
  if (!replies[kNoteReply].is_error()) identity.note = parse_ring_note(replies[kNoteReply].text);
  identity.clock_ms = clock_ms(replies[3], answered);
  return identity;
}

// Seconds with a fraction in INFO cpu. Other threads (writers to clients, to the disk) are left out
// where the server tells them apart.
std::uint64_t cpu_us(std::string_view info) {
  const auto sum = [&](std::string_view user, std::string_view system) {
    double seconds = 0;
    for (const std::string_view field : {user, system}) {
      const std::string text(info_field(info, field));
      seconds += std::strtod(text.c_str(), nullptr);
    }
    return static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e6);
  };
  const std::uint64_t main = sum("used_cpu_user_main_thread", "used_cpu_sys_main_thread");
  return main > 0 ? main : sum("used_cpu_user", "used_cpu_sys");
}

Result<StoreFacts> parse_facts(const Replies& replies, const Answered& answered) {
  // The last three may be denied to a user: then what they tell is not known.
  Result<StoreIdentity> identity =
      parse_identity(std::span(replies).first(kIdentityReplies + 5), answered);
  if (!identity) return std::unexpected(identity.error());
  StoreFacts facts;
  facts.identity = std::move(*identity);
  const std::string& memory = replies[kIdentityReplies].text;
  facts.memory_bytes = info_number(memory, "used_memory");
  facts.memory_bytes_max = info_number(memory, "maxmemory");
  facts.eviction_policy = info_field(memory, "maxmemory_policy");
  facts.commands = info_number(replies[kIdentityReplies + 1].text, "total_commands_processed");
  facts.command_stats = replies[kIdentityReplies + 2].text;
  facts.keyspace = replies[kIdentityReplies + 3].text;
  const auto keys = static_cast<std::uint64_t>(replies[kIdentityReplies + 4].integer);
  facts.rdb_version = rdb_version_of(replies[kIdentityReplies + 5].text);
  facts.cpu_us = cpu_us(replies[kIdentityReplies + 6].text);
  const bool noted = replies[kNoteReply].type == wire::Reply::Type::kBulk;
  const std::uint64_t own = (facts.identity.mark.empty() ? 0U : 1U) + (noted ? 1U : 0U);
  facts.keys = keys - std::min(keys, own);
  facts.version = info_field(replies[0].text, "redis_version");
  return facts;
}

// What RESTORE calls the age by which this policy evicts; empty: it evicts by none.
std::string_view age_option(std::string_view policy) {
  if (policy.ends_with("lfu")) return "FREQ";
  if (policy.ends_with("lru") || policy.empty()) return "IDLETIME";
  return "";
}

void take_age(Item& item, const wire::Reply& age, std::string_view option) {
  if (item.kind == Item::Kind::kAbsent || age.type != wire::Reply::Type::kInteger) return;
  item.age_option = option;
  item.age = std::to_string(age.integer);
}

// The sizes of the first so many elements are added up, those of the others estimated by them.
constexpr std::string_view kSamples = "1000";
constexpr std::string_view kMoreSamples = "100000";
// A value that has more elements than that takes at least so many bytes: only then can the estimate
// miss a very large element.
constexpr std::uint64_t kEstimatedBytes = 32'768;

// Whether a key is there, and its size: MEMORY USAGE's reply.
void take_size(Item& item, const wire::Reply& size, const Limits& limits) {
  item.kind = Item::Kind::kAbsent;
  if (size.type != wire::Reply::Type::kInteger) return;
  item.kind = Item::Kind::kValue;
  item.bytes = static_cast<std::uint64_t>(size.integer);
  if (item.bytes > limits.value_bytes_max) {
    item.kind = Item::Kind::kUnmovable;
    item.reason = "it has " + std::to_string(item.bytes) + " bytes, more than " +
                  std::to_string(limits.value_bytes_max);
  } else if (item.bytes > limits.big_value_bytes) {
    item.kind = Item::Kind::kBig;
  }
}

// DUMP's reply and the absolute expiry in milliseconds (-1: none, -2: no key).
void take_value(Item& item, const wire::Reply& dump, const wire::Reply& expiry) {
  constexpr std::int64_t kNoKey = -2;
  if (dump.is_error()) {
    item.kind = Item::Kind::kUnmovable;
    item.reason = "DUMP refused: " + dump.text;
  } else if (dump.type == wire::Reply::Type::kNull || expiry.integer == kNoKey) {
    item.kind = Item::Kind::kAbsent;  // it went, or expired, between two steps
  } else {
    item.payload = dump.text;
    item.expires_at_ms = std::max<std::int64_t>(expiry.integer, 0);
  }
}

// 6.2: EXEC's [DUMP, PTTL, TIME]. PTTL is relative; with TIME of the same moment it is absolute.
void take_value_62(Item& item, const wire::Reply& exec) {
  CHECK(exec.elements.size() == 3);  // an error was answered before
  wire::Reply expiry = exec.elements[1];
  if (expiry.integer >= 0) expiry.integer += time_ms(exec.elements[2]);
  take_value(item, exec.elements[0], expiry);
}

void add_write(Commands& commands, const Item& item) {
  if (item.kind == Item::Kind::kAbsent || item.unlink_first) commands.add({"UNLINK", item.key});
  if (item.kind == Item::Kind::kAbsent) return;
  const std::string expires = std::to_string(item.expires_at_ms);
  std::vector<std::string_view> args{"RESTORE",    item.key,  expires,
                                     item.payload, "REPLACE", "ABSTTL"};
  if (!item.age.empty()) {
    args.emplace_back(item.age_option);
    args.emplace_back(item.age);
  }
  commands.add(args);
}

Error refusal_of(std::string_view command, const wire::Reply& reply) {
  return {Code::kUnavailable, std::string(command) + " was refused: " + reply.text};
}

// The commands that read one value; the transaction of 6.2 has more.
constexpr std::size_t kValueReplies = 2;
constexpr std::size_t kValueReplies62 = 5;

}  // namespace

RedisStore::RedisStore(net::Loop& loop, Gate& gate, Rng rng, Pipe::Options options)
    : loop_(loop),
      limits_(options.limits),
      user_(user_of(options.credentials)),
      pipe_(loop, gate, rng, std::move(options)) {}

void RedisStore::run(const Commands& commands, RepliesDone done) {
  backend::run(pipe_, commands, alive_, std::move(done));
}

void RedisStore::identify(Done<StoreIdentity> done) {
  Commands commands;
  add_identity(commands);
  run(commands, [this, asked = loop_.now(), done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    has_expire_time_ = major_version(info_field(replies->front().text, "redis_version")) >= 7;
    const nanoseconds took = loop_.now() - asked;
    Result<StoreIdentity> identity =
        parse_identity(*replies, {.at = loop_.now(), .round_trip = took, .user = user_});
    if (!identity) return done(std::move(identity));
    look_at_clock({.identity = std::move(*identity), .best = took}, std::move(done));
  });
}

void RedisStore::look_at_clock(Clocked so_far, Done<StoreIdentity> done) {
  if (so_far.best <= kClockTripMax || ++so_far.trips >= kClockTripsMax)
    return done(std::move(so_far.identity));
  Commands commands;
  commands.add({"TIME"});
  run(commands, [this, so_far = std::move(so_far), asked = loop_.now(),
                 done = std::move(done)](Result<Replies> replies) mutable {
    if (!replies) return done(std::unexpected(replies.error()));
    const Answered answered{.at = loop_.now(), .round_trip = loop_.now() - asked, .user = {}};
    if (answered.round_trip < so_far.best && !replies->front().is_error()) {
      so_far.best = answered.round_trip;
      so_far.identity.clock_ms = clock_ms(replies->front(), answered);
    }
    look_at_clock(std::move(so_far), std::move(done));
  });
}

void RedisStore::facts(Done<StoreFacts> done) {
  Commands commands;
  add_identity(commands);
  commands.add({"INFO", "memory"});
  commands.add({"INFO", "stats"});
  commands.add({"INFO", "commandstats"});
  commands.add({"INFO", "keyspace"});
  commands.add({"DBSIZE"});
  commands.add({"DUMP", kMarkerKey});
  commands.add({"INFO", "cpu"});
  commands.add({"CONFIG", "GET", "proto-max-bulk-len"});
  run(commands, [this, asked = loop_.now(), done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    const Instant now = loop_.now();
    Result<StoreFacts> facts =
        parse_facts(*replies, {.at = now, .round_trip = now - asked, .user = user_});
    if (facts) {
      has_expire_time_ = major_version(facts->version) >= 7;
      age_option_ = age_option(info_field((*replies)[kIdentityReplies].text, "maxmemory_policy"));
      may_evict_ = facts->eviction_policy != "noeviction";
      const std::vector<wire::Reply>& bulk = replies->back().elements;
      if (bulk.size() == 2)
        argument_bytes_max_ = static_cast<std::uint64_t>(to_number(bulk[1].text));
    }
    done(std::move(facts));
  });
}

void RedisStore::list(const std::string& from, KeyFilter filter, Done<Page> done) {
  Commands commands;
  const std::string count = std::to_string(limits_.scan_count);
  commands.add({"SCAN", from.empty() ? "0" : std::string_view(from), "COUNT", count});
  run(commands, [filter = std::move(filter), done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    wire::Reply& reply = replies->front();
    if (reply.elements.size() != 2)
      return done(fail(Code::kUnavailable, "SCAN was refused: " + reply.text));
    Page page;
    if (reply.elements[0].text != "0") page.next = reply.elements[0].text;
    for (wire::Reply& key : reply.elements[1].elements) {
      if (filter(key.text)) page.keys.push_back(std::move(key.text));
    }
    done(std::move(page));
  });
}

void RedisStore::read(std::vector<std::string> keys, Done<std::vector<Item>> done) {
  if (keys.empty()) return loop_.post([done = std::move(done)] { done(std::vector<Item>{}); });
  Commands commands;
  const std::string_view option = age_option_;
  for (const std::string& key : keys) {
    if (!option.empty()) commands.add({"OBJECT", option, key});
    commands.add({"MEMORY", "USAGE", key, "SAMPLES", kSamples});
  }
  run(commands, [this, option, keys = std::move(keys),
                 done = std::move(done)](Result<Replies> replies) mutable {
    if (!replies) return done(std::unexpected(replies.error()));
    std::vector<Item> items(keys.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const wire::Reply* age = option.empty() ? nullptr : &(*replies)[next++];
      const wire::Reply& size = (*replies)[next++];
      if (size.is_error()) return done(std::unexpected(refusal_of("MEMORY USAGE", size)));
      items[i].key = std::move(keys[i]);
      take_size(items[i], size, limits_);
      if (age != nullptr) take_age(items[i], *age, option);
    }
    measure(std::move(items), std::move(done));
  });
}

// Those whose size is an estimate and that would be dumped are added up in full: that costs less
// than their DUMP, and one element of 100 MB among thousands of small ones would else stop the
// server in it. Those that would be too large are looked at again: the same element, met among the
// first, makes all the others seem as large.
void RedisStore::measure(std::vector<Item> items, Done<std::vector<Item>> done) {
  Commands commands;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool would_stay = items[i].kind == Item::Kind::kUnmovable;
    const bool would_be_dumped =
        items[i].kind == Item::Kind::kValue && items[i].bytes >= kEstimatedBytes;
    if (!would_stay && !would_be_dumped) continue;
    commands.add({"MEMORY", "USAGE", items[i].key, "SAMPLES", would_stay ? kMoreSamples : "0"});
    asked.push_back(i);
  }
  if (asked.empty()) return read_values(std::move(items), std::move(done));
  run(commands, [this, items = std::move(items), asked = std::move(asked),
                 done = std::move(done)](Result<Replies> replies) mutable {
    if (!replies) return done(std::unexpected(replies.error()));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const wire::Reply& size = (*replies)[i];
      if (size.is_error()) return done(std::unexpected(refusal_of("MEMORY USAGE", size)));
      take_size(items[asked[i]], size, limits_);
    }
    read_values(std::move(items), std::move(done));
  });
}

void RedisStore::read_values(std::vector<Item> items, Done<std::vector<Item>> done) {
  Commands commands;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::kValue) continue;
    if (has_expire_time_) {
      commands.add({"DUMP", item.key});
      commands.add({"PEXPIRETIME", item.key});
    } else {
      commands.add({"MULTI"});
      commands.add({"DUMP", item.key});
      commands.add({"PTTL", item.key});
      commands.add({"TIME"});
      commands.add({"EXEC"});
    }
  }
  if (commands.empty()) return done(std::move(items));
  run(commands,
      [this, items = std::move(items), done = std::move(done)](Result<Replies> replies) mutable {
        if (!replies) return done(std::unexpected(replies.error()));
        if (const wire::Reply* said = server_refusal(*replies))
          return done(std::unexpected(refusal_of("DUMP", *said)));
        std::size_t next = 0;
        for (Item& item : items) {
          if (item.kind != Item::Kind::kValue) continue;
          if (has_expire_time_) {
            take_value(item, (*replies)[next], (*replies)[next + 1]);
            next += kValueReplies;
          } else {
            next += kValueReplies62;
            take_value_62(item, (*replies)[next - 1]);
          }
        }
        done(std::move(items));
      });
}

// The first command tells how many of the keys are there before: so it is known how many there are
// more afterwards, at a tenth of what their names cost in RESTORE.
void RedisStore::write(std::vector<Item> items, Done<Wrote> done) {
  if (items.empty()) return loop_.post([done = std::move(done)] { done(Wrote{}); });
  Commands commands;
  std::vector<std::string_view> there{"EXISTS"};
  for (const Item& item : items) there.emplace_back(item.key);
  commands.add(there);
  std::int64_t lasting = 0;
  const std::int64_t now = loop_.wall_now().value();
  for (const Item& item : items) {
    add_write(commands, item);
    const bool over = item.expires_at_ms > 0 && item.expires_at_ms <= now;
    if (item.kind != Item::Kind::kAbsent && !over) ++lasting;
  }
  // The key of each reply behind the first.
  std::vector<std::string> keys;
  keys.reserve(commands.size());
  for (Item& item : items) {
    if (item.unlink_first && item.kind != Item::Kind::kAbsent) keys.push_back(item.key);
    keys.push_back(std::move(item.key));
  }
  run(commands, [lasting, keys = std::move(keys),
                 done = std::move(done)](Result<Replies> replies) mutable {
    if (!replies) return done(std::unexpected(replies.error()));
    if (const wire::Reply* said = server_refusal(*replies))
      return done(std::unexpected(refusal_of("RESTORE", *said)));
    Wrote wrote{.more_keys = lasting - replies->front().integer};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      wire::Reply& reply = (*replies)[i + 1];
      if (reply.is_error())
        wrote.failures.push_back({std::move(keys[i]), "the destination refused it: " + reply.text});
    }
    done(std::move(wrote));
  });
}

void RedisStore::remove(std::vector<std::string> keys, Done<std::uint64_t> done) {
  if (keys.empty()) return loop_.post([done = std::move(done)] { done(0); });
  Commands commands;
  // One command for all: a server spends more on a command's way in and out than on the removal.
  std::vector<std::string_view> unlink{"UNLINK"};
  unlink.insert(unlink.end(), keys.begin(), keys.end());
  commands.add(unlink);
  run(commands, [done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    const wire::Reply& reply = replies->front();
    if (reply.is_error())
      return done(fail(Code::kUnavailable, "UNLINK was refused: " + reply.text));
    done(static_cast<std::uint64_t>(std::max<std::int64_t>(reply.integer, 0)));
  });
}

void RedisStore::wait_replicas(std::uint32_t replicas, Done<std::uint32_t> done) {
  Commands commands;
  const std::string patience = std::to_string(limits_.fence_hold_max.count() / 2);
  commands.add({"WAIT", std::to_string(replicas), patience});
  run(commands, [done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    const wire::Reply& reply = replies->front();
    if (reply.is_error()) return done(fail(Code::kUnavailable, "WAIT was refused: " + reply.text));
    done(static_cast<std::uint32_t>(reply.integer));
  });
}

void RedisStore::mark(const std::string& value, Done<void> done) {
  Commands commands;
  commands.add({"SET", kMarkerKey, value, "NX"});
  commands.add({"GET", kMarkerKey});
  run(commands, [value, done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    const wire::Reply& now = (*replies)[1];
    if ((*replies)[0].is_error())
      return done(fail(Code::kUnavailable, "the marker was refused: " + (*replies)[0].text));
    if (now.text != value)
      return done(fail(Code::kConflict, "the server belongs to pool mark '" + now.text + "'"));
    done({});
  });
}

void RedisStore::write_note(RingNote note, Done<RingNote> done) {
  const std::string text = to_text(note);
  Commands commands;
  commands.add({"SET", kRingKey, text, "NX"});
  commands.add({"GET", kRingKey});
  run(commands, [this, note = std::move(note), text,
                 done = std::move(done)](Result<Replies> replies) mutable {
    if (!replies) return done(std::unexpected(replies.error()));
    const wire::Reply& now = (*replies)[1];
    if ((*replies)[0].is_error() || now.is_error())
      return done(fail(Code::kUnavailable, "the note of the ring was refused: " +
                                               (now.is_error() ? now : (*replies)[0]).text));
    if (now.text == text) return done(std::move(note));
    const RingNote there = parse_ring_note(now.text);
    if (!there.server.empty()) note.server = there.server;
    // Not where it has gone meanwhile: a server that was emptied is another one.
    Commands again;
    again.add({"SET", kRingKey, to_text(note), "XX"});
    run(again, [note = std::move(note), done = std::move(done)](Result<Replies> set) {
      if (!set) return done(std::unexpected(set.error()));
      if (set->front().is_error())
        return done(fail(Code::kUnavailable, "the note was refused: " + set->front().text));
      done(note);
    });
  });
}

void RedisStore::take_over(const std::string& value, Done<void> done) {
  Commands commands;
  commands.add({"SET", kMarkerKey, value});
  run(commands, [done = std::move(done)](Result<Replies> replies) {
    if (!replies) return done(std::unexpected(replies.error()));
    if (replies->front().is_error())
      return done(fail(Code::kUnavailable, "the marker was refused: " + replies->front().text));
    done({});
  });
}

}  // namespace cleave::backend
