#include "control/moves/cleaner.h"

#include <map>
#include <set>
#include <utility>
#include <variant>

#include "backend/big_value.h"
#include "base/check.h"
#include "base/guarded.h"
#include "control/moves/sweep.h"
#include "control/observe/server_facts.h"
#include "ring/edits/give_up.h"

namespace cleave::control {
namespace {

constexpr milliseconds kCleaningTick{100};
constexpr milliseconds kCleaningAskAgain{10};
constexpr std::size_t kLastCopiesToldMax = 3;

}  // namespace

Cleaner::Cleaner(const ring::Leftover& entry, Options options)
    : options_(std::move(options)), cleaning_(entry, {.mutations = options_.mutations}) {
  CHECK(options_.view != nullptr && options_.leader.term != Term{});
  CHECK(options_.store != nullptr && options_.may_touch != nullptr && options_.over != nullptr);
}

void Cleaner::start() {
  CHECK(held_since_ == Instant{0});  // it starts once
  held_since_ = options_.loop.now();
  feed(migrate::Start{});
  tick();
}

void Cleaner::see(const SharedDocument& document) { feed(migrate::DocumentSeen{document}); }

void Cleaner::feed(const migrate::CleaningEvent& event) {
  const std::weak_ptr<void> alive = alive_;
  for (const migrate::CleaningAction& action : cleaning_.step(event, options_.loop.now())) {
    if (alive.expired()) return;
    std::visit([this](const auto& what) { act_on(what); }, action);
  }
}

void Cleaner::tick() {
  if (cleaning_.is_over()) return;
  feed(migrate::Tick{});
  options_.loop.after(kCleaningTick, guarded(alive_, [this] { tick(); }));
}

void Cleaner::fail_step(const std::string& where, const std::string& why) {
  feed(migrate::Failed{where + ": " + why});
}

std::shared_ptr<backend::RedisStore> Cleaner::node() const {
  return options_.store(cleaning_.entry().node);
}

// By value: a page of keys may arrive after the cleaner is gone, at a store that is still there.
// Hidden keys of broken copies go too: no move that could need them is under way here.
backend::Store::KeyFilter Cleaner::in_entry() const {
  return [ranges = cleaning_.entry().ranges, view = options_.view](std::string_view key) {
    if (key.starts_with(backend::kMovePrefix)) return true;
    return !key.starts_with(backend::kOwnPrefix) && ring::contains(ranges, view->token_of(key));
  };
}

// Rule 23 a. Commands whose connection was lost count until rule 6 says that they are finished.
void Cleaner::act_on(const migrate::AwaitQuiet& action) {
  if (cleaning_.at() != migrate::CleaningStep::kQuiet) return;
  const auto store = node();
  if (store == nullptr) return fail_step("the server", "its node is not in the ring");
  const bool mine = options_.may_touch(*this);
  const bool unfinished = store->unfinished() > 0;
  if (mine && !unfinished) return feed(migrate::Quiet{});
  if (!mine || !unfinished) held_since_ = options_.loop.now();
  options_.loop.after(kCleaningAskAgain, guarded(alive_, [this, action] { act_on(action); }));
}

void Cleaner::act_on(const migrate::SweepNode&) {
  CHECK(cleaning_.at() == migrate::CleaningStep::kSweep);
  const auto store = node();
  if (store == nullptr) return fail_step("sweep", "the node is not in the ring");
  sweep(store, options_.writer, guarded(alive_, [this](const Result<void>& swept) {
          if (!swept) return fail_step("sweep", swept.error().message);
          feed(migrate::Swept{});
        }));
}

void Cleaner::act_on(const migrate::LookAt&) {
  const auto store = node();
  if (store == nullptr) return fail_step("look", "the node is not in the ring");
  store->identify(guarded(alive_, [this](const Result<backend::StoreIdentity>& seen) {
    if (!seen) return fail_step("look", seen.error().message);
    const std::string& mark = options_.view->document().mark;
    look_at_holder({.node = server_facts(*seen, mark), .holder = std::nullopt});
  }));
}

void Cleaner::look_at_holder(migrate::LookedAt seen) {
  const NodeId holder = cleaning_.entry().holder;
  CHECK(holder != cleaning_.entry().node);
  if (holder == NodeId{}) return feed(seen);
  const auto store = options_.store(holder);
  if (store == nullptr) return fail_step("the destination", "its node is not in the ring");
  store->identify(guarded(
      alive_, [this, seen = std::move(seen)](const Result<backend::StoreIdentity>& found) mutable {
        if (!found) return fail_step("the destination of the move", found.error().message);
        seen.holder = server_facts(*found, options_.view->document().mark);
        feed(seen);
      }));
}

// Removing while listing is what SCAN allows.
void Cleaner::act_on(const migrate::CleanPage& action) {
  CHECK(cleaning_.at() == migrate::CleaningStep::kPages);
  if (action.from_start) cursor_.clear();
  const auto store = node();
  if (store == nullptr) return fail_step("list", "the node is not in the ring");
  store->list(cursor_, in_entry(), guarded(alive_, [this](Result<backend::Page> page) {
                if (!page) return fail_step("list", page.error().message);
                cursor_ = page->next;
                migrate::PageCleaned cleaned;
                cleaned.deleted = page->keys.size();
                cleaned.last = page->next.empty();
                ask_owners(std::move(page->keys), std::move(cleaned));
              }));
}

// A page of keys, and what their owners say of it.
struct Cleaner::Asked {
  std::vector<std::string> keys;
  migrate::PageCleaned page;
  std::vector<std::string> unknown;  // to their owners
  std::string silent;                // why an owner did not answer; empty: all did
  std::size_t open = 1;
};

// Rule 25: what its owner does not have was deleted there since, or somebody put it here past the
// routers. That cannot be told apart, so it is deleted all the same, but said. Where a person gave
// up what was kept it may be the last copy too, of a move that nobody remembers: then it stays.
void Cleaner::ask_owners(std::vector<std::string> keys, migrate::PageCleaned page) {
  std::map<NodeId, std::vector<std::string>> of_owner;
  for (const std::string& key : keys) {
    if (key.starts_with(backend::kOwnPrefix)) continue;
    const NodeId owner = options_.view->owner(options_.view->token_of(key));
    // An entry never names the owner of its ranges.
    CHECK(owner != cleaning_.entry().node || options_.mutations.any_of_edits());
    of_owner[owner].push_back(key);
  }
  auto asked = std::make_shared<Asked>(
      Asked{.keys = std::move(keys), .page = std::move(page), .unknown = {}, .silent = {}});
  const auto answered = [this, asked] {
    CHECK(asked->open > 0);
    if (--asked->open == 0) asked_owners(*asked);
  };
  for (auto& [owner, theirs] : of_owner) {
    const auto store = options_.store(owner);
    if (store == nullptr || !store->usable()) {
      asked->silent = "node " + std::to_string(owner.value()) + " does not answer";
      continue;
    }
    backend::Commands commands;
    for (const std::string& key : theirs) commands.add({"EXISTS", key});
    ++asked->open;
    store->run(commands, guarded(alive_, [asked, answered, wanted = std::move(theirs)](
                                             const Result<backend::Replies>& replies) {
                 if (!replies) asked->silent = replies.error().message;
                 for (std::size_t i = 0; replies && i < wanted.size(); ++i) {
                   if ((*replies)[i].is_error()) asked->silent = (*replies)[i].text;
                   if ((*replies)[i].is_error() || (*replies)[i].integer != 0) continue;
                   asked->unknown.push_back(wanted[i]);
                 }
                 answered();
               }));
  }
  answered();
}

void Cleaner::asked_owners(Asked& asked) {
  CHECK(asked.open == 0);
  migrate::PageCleaned& page = asked.page;
  for (const std::string& key : asked.unknown)
    if (page.examples.size() < kLastCopiesToldMax) page.examples.push_back(key);
  if (!ring::spares_last_copies(cleaning_.entry())) {
    page.unknown = asked.unknown.size();
    return remove(std::move(asked.keys), std::move(page));
  }
  if (!asked.silent.empty()) return fail_step("the owner of the keys", asked.silent);
  page.spared = asked.unknown.size();
  CHECK(page.spared <= page.deleted);
  page.deleted -= page.spared;
  const std::set<std::string> stay(asked.unknown.begin(), asked.unknown.end());
  std::erase_if(asked.keys, [&](const std::string& key) { return stay.contains(key); });
  remove(std::move(asked.keys), std::move(page));
}

void Cleaner::remove(std::vector<std::string> keys, migrate::PageCleaned page) {
  // Rule 23: only now, and never what is kept or carries the marker's name.
  CHECK(cleaning_.at() == migrate::CleaningStep::kPages || options_.mutations.drop_early);
  CHECK(!cleaning_.entry().kept());
  const auto store = node();
  if (store == nullptr) return fail_step("remove", "the node is not in the ring");
  if (options_.mutations.drop_early) feed(page);
  auto then = guarded(alive_, [this, page](const Result<std::uint64_t>& removed) {
    if (!removed) return fail_step("remove", removed.error().message);
    feed(page);
  });
  store->remove(std::move(keys), [copies = options_.copies, then = std::move(then)](
                                     const Result<std::uint64_t>& removed) mutable {
    if (copies != nullptr && removed) copies->keys -= static_cast<std::int64_t>(*removed);
    then(removed);
  });
}

void Cleaner::act_on(const migrate::WriteEntry& action) {
  CHECK(!cleaning_.is_over());
  const auto edit = [this, alive = std::weak_ptr<void>(alive_), change = action.change](
                        const ring::Document& document) -> Result<ring::Document> {
    if (alive.expired()) return fail(Code::kConflict, "the term that cleaned has ended");
    if (document.leader != options_.leader)
      return fail(Code::kConflict, "another leader drives this pool now");
    return cleaning_.edit(change, document);
  };
  // What was written was seen before this answer (document_writer.h).
  options_.writer.edit(edit, guarded(alive_, [this](const Result<SharedDocument>& written) {
                         if (!written) feed(migrate::WriteRefused{written.error().message});
                       }));
}

void Cleaner::act_on(const migrate::Over&) {
  CHECK(cleaning_.is_over());
  options_.loop.post(guarded(alive_, [this] { options_.over(*this); }));
}

}  // namespace cleave::control
