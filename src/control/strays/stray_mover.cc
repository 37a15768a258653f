#include "control/strays/stray_mover.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "backend/commands.h"
#include "base/check.h"
#include "base/guarded.h"
#include "base/hash.h"
#include "base/own_names.h"
#include "ring/view/stray.h"

namespace cleave::control {
namespace {

constexpr std::size_t kPageKeys = 200;                            // SCAN ... COUNT
constexpr std::size_t kPagesAtOnce = 100;                         // without a stray in them
constexpr std::uint64_t kDumpBytesMax = std::uint64_t{8} << 20U;  // of one answer
constexpr std::uint32_t kReplicaPatienceMs = 1'000;

std::string first_error(const backend::Replies& replies) {
  for (const wire::Reply& reply : replies) {
    if (reply.is_error()) return reply.text;
  }
  return {};
}

backend::Commands restore_of(const backend::Item& item) {
  backend::Commands commands;
  const std::string expires = std::to_string(item.expires_at_ms);
  std::vector<std::string_view> args{"RESTORE", item.key, expires, item.payload, "ABSTTL"};
  if (!item.age.empty()) {
    args.emplace_back(item.age_option);
    args.emplace_back(item.age);
  }
  commands.add(args);
  return commands;
}

StrayDump dump_of(const backend::Item& item) {
  return {.key = item.key,
          .payload = item.payload,
          .hash = xxh3_64(item.payload),
          .expires_at_ms = item.expires_at_ms};
}

// What became of a key that was to be removed if it is still what it was.
enum class Removal : std::uint8_t { kDone, kGone, kChanged };

using RemovalDone = std::function<void(Result<Removal>)>;

// Both steps run on one connection: the second is sent when the first is answered, and never on
// another one.
void remove_unchanged(const std::shared_ptr<backend::RedisStore>& store, const std::string& key,
                      std::uint64_t hash, const std::shared_ptr<void>& alive, RemovalDone done) {
  backend::Commands watch;
  watch.add({"WATCH", key});
  watch.add({"DUMP", key});
  store->run(watch, guarded(alive, [=](Result<backend::Replies> seen) {
               if (!seen) return done(std::unexpected(seen.error()));
               if (const std::string refused = first_error(*seen); !refused.empty())
                 return done(fail(Code::kUnavailable, "the server refused: " + refused));
               const wire::Reply& value = (*seen)[1];
               const bool gone = value.type == wire::Reply::Type::kNull;
               const bool same = !gone && xxh3_64(value.text) == hash;
               if (!store->usable()) return done(fail(Code::kUnavailable, store->last_error()));
               backend::Commands act;
               if (!same) act.add({"UNWATCH"});
               if (same) {
                 act.add({"MULTI"});
                 act.add({"UNLINK", key});
                 act.add({"EXEC"});
               }
               store->run(
                   act, guarded(alive, [=](Result<backend::Replies> acted) {
                     if (!acted) return done(std::unexpected(acted.error()));
                     if (!same) return done(gone ? Removal::kGone : Removal::kChanged);
                     if (const std::string refused = first_error(*acted); !refused.empty())
                       return done(fail(Code::kUnavailable, "the server refused: " + refused));
                     const bool ran = (*acted)[2].type == wire::Reply::Type::kArray &&
                                      !(*acted)[2].elements.empty();
                     done(ran ? Removal::kDone : Removal::kChanged);
                   }));
             }));
}

}  // namespace

// One order under way.
struct StrayMover::Work {
  NodeId node;
  std::shared_ptr<backend::RedisStore> source;
  std::string from;
  std::deque<std::string> keys;  // strays still to be handled
  std::deque<StrayDump> dumps;   // to be removed
  StraysHandled handled;
  StrayDumps read;
  std::uint64_t read_bytes = 0;
  Done<StraysHandled> done;
  Done<StrayDumps> done_reading;
  // Of the key at hand.
  std::shared_ptr<backend::RedisStore> owner;
  Incarnation owner_life;
  bool ended = false;

  void end(Result<void> result) {
    CHECK(!std::exchange(ended, true));  // one order, one answer
    if (done_reading)
      return result ? done_reading(read) : done_reading(std::unexpected(result.error()));
    result ? done(handled) : done(std::unexpected(result.error()));
  }
};

// A server that a driver may write to now.
Result<std::shared_ptr<backend::RedisStore>> StrayMover::ready(NodeId node) const {
  if (options_.moving())
    return fail(Code::kConflict,
                "a move is under way or waits; strays are handled when it is over");
  const NodeFacts* const facts = options_.links.facts(node);
  auto store = options_.links.store(node);
  if (facts == nullptr || store == nullptr) return fail(Code::kNotFound, "no such node");
  if (!facts->reachable || !store->usable())
    return fail(Code::kUnavailable, "its server is not reached: " + facts->error);
  if (!facts->marked) return fail(Code::kConflict, "its server does not carry this pool's marker");
  return store;
}

// ---- the page -----------------------------------------------------------------------------------

void StrayMover::list(const StrayPage& from, std::function<void(Result<WorkPtr>)> done) {
  auto source = ready(from.node);
  if (!source) {
    return options_.loop.post([done, why = source.error()] { done(std::unexpected(why)); });
  }
  const auto work = std::make_shared<Work>();
  work->node = from.node;
  work->source = *source;
  work->from = from.cursor.empty() ? "0" : from.cursor;
  work->handled.next = work->from;
  const auto ask = std::make_shared<std::function<void(std::size_t)>>();
  *ask = [this, work, done = std::move(done), again = std::weak_ptr(ask)](std::size_t pages_left) {
    backend::Commands commands;
    commands.add({"SCAN", work->handled.next, "COUNT", std::to_string(kPageKeys)});
    work->source->run(
        commands, guarded(alive_, [this, work, done, pages_left, before = options_.view(),
                                   ask = again.lock()](Result<backend::Replies> replies) {
          if (!replies) return done(std::unexpected(replies.error()));
          const wire::Reply& page = replies->front();
          if (page.elements.size() != 2)
            return done(fail(Code::kUnavailable, "SCAN was refused: " + page.text));
          work->from = work->handled.next;
          take_page(work, *before, page);
          const bool over = work->handled.next.empty() || !work->keys.empty() || pages_left == 0;
          over ? done(work) : (*ask)(pages_left - 1);
        }));
  };
  (*ask)(kPagesAtOnce);
}

void StrayMover::take_page(const WorkPtr& work, const ring::RingView& before,
                           const wire::Reply& page) {
  const ring::RingSnapshot now = options_.view();
  CHECK(now != nullptr);
  work->handled.next = page.elements[0].text == "0" ? "" : page.elements[0].text;
  for (const wire::Reply& key : page.elements[1].elements) {
    if (key.text.starts_with(kOwnKeyPrefix)) continue;
    const Token token = now->token_of(key.text);
    if (ring::is_stray(*now, work->node, token) && ring::is_stray(before, work->node, token))
      work->keys.push_back(key.text);
  }
}

void StrayMover::keep(const WorkPtr& work, const std::string& key, std::string why) {
  CHECK(!why.empty());
  work->handled.kept.push_back({.key = key, .why = std::move(why)});
}

// ---- to their owners ----------------------------------------------------------------------------

void StrayMover::move(StrayPage from, Done<StraysHandled> done) {
  list(from, [this, done = std::move(done)](const Result<WorkPtr>& work) {
    if (!work) return done(std::unexpected(work.error()));
    (*work)->done = done;
    next(*work);
  });
}

void StrayMover::next(const WorkPtr& work) {
  if (work->keys.empty()) return work->end({});
  CHECK(work->done != nullptr);
  const std::string key = std::move(work->keys.front());
  work->keys.pop_front();
  const ring::RingSnapshot view = options_.view();
  const NodeId owner = view->owner(view->token_of(key));
  auto at_owner = ready(owner);
  if (!at_owner || owner == work->node || !ready(work->node)) {
    if (at_owner) at_owner = fail(Code::kConflict, "the ring or its server has changed meanwhile");
    return work->end(std::unexpected(at_owner.error()));
  }
  CHECK(owner != work->node);
  work->owner = *at_owner;
  work->owner_life = options_.links.facts(owner)->incarnation;
  options_.touched(owner);
  options_.touched(work->node);
  work->source->read({key}, guarded(alive_, [this, work](Result<std::vector<backend::Item>> items) {
                       if (!items) return work->end(std::unexpected(items.error()));
                       place(work, std::move(items->front()));
                     }));
}

void StrayMover::place(const WorkPtr& work, backend::Item item) {
  CHECK(work->owner != nullptr && work->owner != work->source);
  if (item.kind == backend::Item::Kind::kAbsent) return next(work);
  if (item.kind != backend::Item::Kind::kValue) {
    keep(work, item.key, item.reason.empty() ? "it is too large for one DUMP" : item.reason);
    return next(work);
  }
  if (options_.moving())
    return work->end(fail(Code::kConflict, "a move has begun meanwhile; go on when it is over"));
  work->owner->run(
      restore_of(item), guarded(alive_, [this, work, item](Result<backend::Replies> replies) {
        if (!replies) return work->end(std::unexpected(replies.error()));
        const std::string refused = first_error(*replies);
        if (refused.empty()) return secure(work, item);
        if (!refused.starts_with("BUSYKEY")) {
          return work->end(fail(Code::kUnavailable, "the owner refused: " + refused));
        }
        backend::Commands dump;
        dump.add({"DUMP", item.key});
        work->owner->run(dump, guarded(alive_, [this, work, item](Result<backend::Replies> at) {
                           if (!at) return work->end(std::unexpected(at.error()));
                           compare_placed(work, item, at->front().text);
                         }));
      }));
}

// A key of that name is there: of a client, or ours, where an order broke off between the two.
void StrayMover::compare_placed(const WorkPtr& work, const backend::Item& item,
                                const std::string& at_owner) {
  CHECK(item.kind == backend::Item::Kind::kValue);
  if (at_owner == item.payload) return secure(work, item);
  keep(work, item.key, "its owner has a key of that name with another value");
  next(work);
}

// The copy must not be the only one that a failover of the owner loses.
void StrayMover::secure(const WorkPtr& work, const backend::Item& item) {
  work->owner->identify(guarded(alive_, [this, work, item](Result<backend::StoreIdentity> now) {
    if (!now) return work->end(std::unexpected(now.error()));
    if (now->incarnation != work->owner_life || !now->primary)
      return work->end(fail(Code::kConflict, "the owner's server is not the same any more"));
    if (now->replicas == 0) return take_away(work, item);
    backend::Commands wait;
    wait.add({"WAIT", std::to_string(now->replicas), std::to_string(kReplicaPatienceMs)});
    work->owner->run(wait, guarded(alive_, [this, work, item, replicas = now->replicas](
                                               Result<backend::Replies> replies) {
                       if (!replies) return work->end(std::unexpected(replies.error()));
                       if (replies->front().integer < replicas) {
                         return work->end(fail(Code::kUnavailable,
                                               "a replica of the owner does not follow in time"));
                       }
                       take_away(work, item);
                     }));
  }));
}

void StrayMover::take_away(const WorkPtr& work, const backend::Item& item) {
  if (options_.moving())
    return work->end(fail(Code::kConflict, "a move has begun meanwhile; go on when it is over"));
  remove_unchanged(work->source, item.key, xxh3_64(item.payload), alive_,
                   [this, work, item](const Result<Removal>& removed) {
                     if (!removed) return work->end(std::unexpected(removed.error()));
                     if (*removed != Removal::kDone) {
                       return withdraw(work, item,
                                       *removed == Removal::kGone
                                           ? "it was removed meanwhile by who bypasses the routers"
                                           : "it is being changed by who bypasses the routers");
                     }
                     ++work->handled.handled;
                     next(work);
                   });
}

void StrayMover::withdraw(const WorkPtr& work, const backend::Item& item, const std::string& why) {
  if (options_.moving())
    return work->end(fail(Code::kConflict, "a move has begun meanwhile; go on when it is over"));
  remove_unchanged(work->owner, item.key, xxh3_64(item.payload), alive_,
                   [this, work, key = item.key, why](const Result<Removal>& removed) {
                     if (!removed) return work->end(std::unexpected(removed.error()));
                     keep(work, key, why);
                     next(work);
                   });
}

// ---- out of the pool ----------------------------------------------------------------------------

void StrayMover::read(StrayPage from, Done<StrayDumps> done) {
  list(from, [this, done = std::move(done)](const Result<WorkPtr>& work) {
    if (!work) return done(std::unexpected(work.error()));
    (*work)->done_reading = done;
    read_next(*work);
  });
}

void StrayMover::read_next(const WorkPtr& work) {
  work->read.next = work->handled.next;
  work->read.kept = work->handled.kept;
  CHECK(work->done_reading != nullptr);
  if (work->keys.empty()) return work->end({});
  if (work->read_bytes > kDumpBytesMax) {
    work->read.next = work->from;  // the rest of this page, when these are removed
    return work->end({});
  }
  const std::string key = std::move(work->keys.front());
  work->keys.pop_front();
  work->source->read({key}, guarded(alive_, [this, work](Result<std::vector<backend::Item>> items) {
                       if (!items) return work->end(std::unexpected(items.error()));
                       const backend::Item& item = items->front();
                       if (item.kind == backend::Item::Kind::kValue) {
                         work->read.dumps.push_back(dump_of(item));
                         work->read_bytes += item.payload.size();
                       } else if (item.kind != backend::Item::Kind::kAbsent) {
                         keep(work, item.key,
                              item.reason.empty() ? "it is too large for one DUMP" : item.reason);
                       }
                       read_next(work);
                     }));
}

void StrayMover::remove(NodeId node, std::vector<StrayDump> dumps, Done<StraysHandled> done) {
  const auto source = ready(node);
  if (!source) {
    return options_.loop.post([done, why = source.error()] { done(std::unexpected(why)); });
  }
  const auto work = std::make_shared<Work>();
  work->node = node;
  work->source = *source;
  work->dumps = {dumps.begin(), dumps.end()};
  work->done = std::move(done);
  remove_next(work);
}

void StrayMover::remove_next(const WorkPtr& work) {
  if (work->dumps.empty()) return work->end({});
  const StrayDump dump = std::move(work->dumps.front());
  work->dumps.pop_front();
  const ring::RingSnapshot view = options_.view();
  if (options_.moving() || !ring::is_stray(*view, work->node, view->token_of(dump.key))) {
    keep(work, dump.key, "it is no stray any more, or a move is under way");
    return remove_next(work);
  }
  options_.touched(work->node);
  remove_unchanged(work->source, dump.key, dump.hash, alive_,
                   [this, work, key = dump.key](const Result<Removal>& removed) {
                     if (!removed) return work->end(std::unexpected(removed.error()));
                     if (*removed == Removal::kDone) ++work->handled.handled;
                     if (*removed == Removal::kChanged)
                       keep(work, key, "it was changed since it was read");
                     remove_next(work);
                   });
}

}  // namespace cleave::control
