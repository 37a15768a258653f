#include "control/begin/ring_restore.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/own_names.h"
#include "base/shown.h"
#include "control/strays/surveyor.h"

namespace cleave::control {
namespace {

// Above every number that can have been given since the last note was written, an hour ago at most.
constexpr std::uint64_t kEpochStride = 1'000'000;
constexpr std::uint64_t kKeysLooked = 20'000;  // of each server
constexpr std::size_t kExamplesMax = 5;

}  // namespace

RingRestore::RingRestore(Options options, RestoreOrder order, Done done)
    : options_(std::move(options)), order_(std::move(order)), done_(std::move(done)) {
  CHECK(done_ != nullptr);
}

void RingRestore::start() {
  const ring::Document& saved = order_.saved;
  if (saved.pool != options_.pool && !order_.rename)
    return options_.loop.post(guarded(alive_, [this] {
      done_(fail(Code::kInvalid, "it is the ring of pool '" + order_.saved.pool +
                                     "', and this router is of pool '" + options_.pool +
                                     "'; if the pool was renamed, say --rename"));
    }));
  Result<ring::RingSnapshot> view = ring::RingView::build(saved);
  if (!view)
    return options_.loop.post(
        guarded(alive_, [this, why = view.error()] { done_(std::unexpected(why)); }));
  view_ = std::move(*view);
  look_ = std::make_unique<ServerLook>(ServerLook::Options{.loop = options_.loop,
                                                           .nodes = saved.nodes,
                                                           .credentials = options_.credentials,
                                                           .limits = options_.limits,
                                                           .session = options_.session,
                                                           .seed = options_.seed});
  look_->ask(guarded(alive_, [this](const std::vector<FoundServer>& found) {
    report_.servers = found;
    looked();
  }));
}

void RingRestore::looked() {
  CHECK(report_.servers.size() == order_.saved.nodes.size());
  report_.keys.resize(report_.servers.size());
  report_.saved = order_.saved.epoch;
  // What it will be in the end; only its epoch is not known yet.
  const Result<ring::Document> made = ring::restored(
      order_.saved,
      {.pool = options_.pool, .above = order_.saved.epoch, .now = options_.loop.wall_now()});
  if (!made) return done_(std::unexpected(made.error()));
  report_.kept = made->leftovers;
  report_.under.resize(report_.kept.size());
  look_until_ = options_.loop.now() + kLookMax;
  for (const FoundServer& server : report_.servers) {
    if (server.note.ring == order_.saved.mark)
      report_.told = std::max(report_.told, server.note.epoch);
  }
  doubt_servers();
  open_ = 1;
  for (std::size_t i = 0; i < report_.servers.size(); ++i) {
    if (!report_.servers[i].error.empty()) continue;
    ++open_;
    sample(i, "");
  }
  options_.loop.post(guarded(alive_, [this] { sampled(); }));
}

void RingRestore::doubt_servers() {
  for (const FoundServer& server : report_.servers) {
    const std::string who = server.node + " (" + server.address + ")";
    if (!server.error.empty()) {
      report_.doubts.push_back(who + " cannot be asked: " + server.error);
    } else if (server.mark.empty() && server.keys > 0) {
      report_.doubts.push_back(who + " carries no marker, and " + std::to_string(server.keys) +
                               " keys");
    } else if (!server.mark.empty() && server.mark != order_.saved.mark) {
      report_.doubts.push_back(who + " belongs to another ring, of mark '" + server.mark + "'");
    } else if (!server.note.node.empty() && server.note.ring == order_.saved.mark &&
               server.note.node != server.node) {
      report_.doubts.push_back(who + " was node '" + server.note.node + "'");
    }
  }
  if (report_.told > report_.saved)
    report_.doubts.push_back(
        "the servers have heard of epoch " + std::to_string(report_.told.value()) +
        ", the saved ring is of epoch " + std::to_string(report_.saved.value()) +
        ": what changed in between is not in it. Is there a newer file?");
}

bool RingRestore::has_entry(std::size_t index) const {
  CHECK(index < order_.saved.nodes.size());
  const NodeId node = order_.saved.nodes[index].id;
  return std::ranges::find(report_.kept, node, &ring::Leftover::node) != report_.kept.end();
}

KeysFound* RingRestore::under(std::size_t index, Token token) {
  CHECK(report_.under.size() == report_.kept.size());
  for (std::size_t i = 0; i < report_.kept.size(); ++i) {
    const ring::Leftover& entry = report_.kept[i];
    if (entry.node == order_.saved.nodes[index].id && ring::contains(entry.ranges, token))
      return &report_.under[i];
  }
  return nullptr;
}

// SCAN goes by the keys' own hash, so its first pages are a fair sample of all ranges.
void RingRestore::sample(std::size_t index, const std::string& cursor) {
  look_->store(index)->list(
      cursor, [](std::string_view key) { return !key.starts_with(kOwnKeyPrefix); },
      guarded(alive_, [this, index](Result<backend::Page> page) {
        if (page) return take_page(index, std::move(page->keys), page->next);
        report_.doubts.push_back(report_.servers[index].node +
                                 ": its keys cannot be listed: " + page.error().message);
        sampled();
      }));
}

void RingRestore::take_page(std::size_t index, std::vector<std::string> keys,
                            const std::string& next) {
  KeysFound& found = report_.keys[index];
  const auto& nodes = order_.saved.nodes;
  std::map<std::size_t, std::vector<std::string>> by_owner;
  for (std::string& key : keys) {
    ++found.looked;
    const Token token = view_->token_of(key);
    const NodeId owner = view_->owner(token);
    KeysFound* const copies = under(index, token);
    if (copies != nullptr) ++copies->looked;
    if (owner == nodes[index].id) continue;
    ++found.elsewhere;
    if (copies != nullptr) ++copies->elsewhere;
    const auto at = std::ranges::find(nodes, owner, &ring::Node::id) - nodes.begin();
    CHECK(static_cast<std::size_t>(at) < nodes.size());  // an owner is a node of the ring
    by_owner[static_cast<std::size_t>(at)].push_back(std::move(key));
  }
  const bool all = has_entry(index);
  const bool late = options_.loop.now() >= look_until_;
  if (all && late && !next.empty())
    report_.doubts.push_back(report_.servers[index].node +
                             " has too many keys to look at all: " + std::to_string(found.looked) +
                             " of " + std::to_string(report_.servers[index].keys) +
                             " were, and copies of moves may lie there");
  const bool more = !next.empty() && !late && (all || found.looked < kKeysLooked);
  ask_owners(index, std::move(by_owner), [this, index, next, more] {
    if (more) return sample(index, next);
    sampled();
  });
}

// A key that its owner has too is a copy that a move left; one that it has not is lost to clients.
void RingRestore::ask_owners(std::size_t index,
                             std::map<std::size_t, std::vector<std::string>> by_owner,
                             std::function<void()> then) {
  const auto open = std::make_shared<std::size_t>(1);
  const auto done = [open, then = std::move(then)] {
    CHECK(*open > 0);
    if (--*open == 0) then();
  };
  for (auto& [owner, keys] : by_owner) {
    if (!report_.servers[owner].error.empty()) continue;
    backend::Commands commands;
    for (const std::string& key : keys) commands.add({"EXISTS", key});
    ++*open;
    look_->store(owner)->run(commands,
                             guarded(alive_, [this, index, owner, asked = std::move(keys),
                                              done](const Result<backend::Replies>& replies) {
                               count_lost(index, owner, asked, replies);
                               done();
                             }));
  }
  options_.loop.post(guarded(alive_, done));
}

void RingRestore::count_lost(std::size_t index, std::size_t owner,
                             const std::vector<std::string>& keys,
                             const Result<backend::Replies>& replies) {
  const auto count = [](KeysFound& found, const std::string& key) {
    ++found.lost;
    if (found.examples.size() < kExamplesMax) found.examples.push_back(shown(key));
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool told = replies && (*replies)[i].type == wire::Reply::Type::kInteger;
    if (!told) silent_.insert(report_.servers[owner].node);
    if (!told || (*replies)[i].integer != 0) continue;
    count(report_.keys[index], keys[i]);
    KeysFound* const copies = under(index, view_->token_of(keys[i]));
    if (copies != nullptr) count(*copies, keys[i]);
  }
}

void RingRestore::sampled() {
  CHECK(open_ > 0);
  if (--open_ > 0) return;
  doubt_keys();
  doubt_copies();
  const Epoch known = std::max(report_.saved, report_.told);
  const Result<ring::Document> made =
      ring::restored(order_.saved, {.pool = options_.pool,
                                    .above = Epoch{known.value() + kEpochStride},
                                    .now = options_.loop.wall_now()});
  if (!made) return done_(std::unexpected(made.error()));
  document_ = *made;
  // Its numbers were never used, and no entry of the file is acted on.
  CHECK(document_.epoch > known);
  CHECK(std::ranges::all_of(document_.leftovers, &ring::Leftover::kept));
  report_.epoch = document_.epoch;
  report_.kept = document_.leftovers;
  if (order_.dry_run) return finish();
  if (const Result<void> idle = nobody_at_work(report_.servers); !idle && !order_.force)
    return done_(std::unexpected(idle.error()));
  if (!report_.doubts.empty() && !order_.force) {
    std::string all;
    for (const std::string& doubt : report_.doubts) all += (all.empty() ? "" : "; ") + doubt;
    return done_(
        fail(Code::kConflict, all + ". Nothing was written; --force restores it as it is"));
  }
  write();
}

void RingRestore::doubt_keys() {
  KeysFound all;
  for (const KeysFound& found : report_.keys) {
    all.looked += found.looked;
    all.lost += found.lost;
    for (const std::string& key : found.examples)
      if (all.examples.size() < kExamplesMax) all.examples.push_back(key);
  }
  if (all.lost * 1'000'000 <= all.looked * kMisplacedMaxPpm) return;
  std::string names;
  for (const std::string& key : all.examples) names += (names.empty() ? "" : ", ") + key;
  report_.doubts.push_back(std::to_string(all.lost) + " of " + std::to_string(all.looked) +
                           " keys looked at lie where this ring does not look (" + names + ")");
}

// Few as they are, each may be all that is left of a key that a client has written.
void RingRestore::doubt_copies() {
  for (const std::string& node : silent_)
    report_.doubts.push_back(node + " did not tell whether it has keys that it should have");
  for (std::size_t i = 0; i < report_.kept.size(); ++i) {
    const KeysFound& found = report_.under[i];
    if (found.lost == 0) continue;
    std::string names;
    for (const std::string& key : found.examples) names += (names.empty() ? "" : ", ") + key;
    report_.doubts.push_back(
        std::to_string(found.lost) + " of " + std::to_string(found.elsewhere) + " keys that move " +
        std::to_string(report_.kept[i].move.value()) + " may have left at " +
        ring::find_node(order_.saved, report_.kept[i].node)->name + " are not at their owner (" +
        names +
        "): that move may have been committed after this ring was saved, and these be the last "
        "copies. Is there a newer file?");
  }
}

void RingRestore::write() {
  CHECK(!order_.dry_run && !report_.written);
  options_.writer.create(document_, guarded(alive_, [this](const Result<SharedDocument>& created) {
                           if (!created) return done_(std::unexpected(created.error()));
                           report_.written = true;
                           write_notes();
                         }));
}

// So that another restoration begins above this one.
void RingRestore::write_notes() {
  open_ = 1;
  const UnixMillis now = options_.loop.wall_now();
  for (std::size_t i = 0; i < report_.servers.size(); ++i) {
    const FoundServer& server = report_.servers[i];
    if (!server.error.empty() || server.mark != document_.mark) continue;
    backend::RingNote note = server.note;
    if (note.server.empty()) continue;  // the leader gives it one
    note.pool = document_.pool;
    note.ring = document_.mark;
    note.node = server.node;
    note.epoch = document_.epoch;
    note.written = now;
    ++open_;
    look_->store(i)->write_note(
        note, guarded(alive_, [this](const Result<backend::RingNote>&) { noted(); }));
  }
  options_.loop.post(guarded(alive_, [this] { noted(); }));
}

void RingRestore::noted() {
  CHECK(open_ > 0 && report_.written);
  if (--open_ == 0) finish();
}

void RingRestore::finish() { done_(std::move(report_)); }

}  // namespace cleave::control
