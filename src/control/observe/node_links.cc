#include "control/observe/node_links.h"

#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/document/session_names.h"
#include "control/observe/info_facts.h"
#include "control/observe/server_look.h"

namespace cleave::control {
namespace {

constexpr milliseconds kNoteEvery{3'600'000};

}  // namespace

// Rule 5 for a driver: the read must show its term.
class NodeLinks::TermGate final : public backend::Gate {
 public:
  TermGate(net::Loop& loop, DocumentWriter& writer, ring::Leader leader, Mutations mutations)
      : loop_(loop),
        writer_(writer),
        leader_(std::move(leader)),
        name_(driver_session(leader_.session, leader_.term)),
        mutations_(mutations) {}

  const SessionId& session() const override { return name_; }

  void confirm(std::function<void(Result<void>)> done) override {
    if (mutations_.no_gate_read) return loop_.post([done] { done({}); });
    writer_.read(guarded(alive_, [this, done = std::move(done)](Result<SharedDocument> document) {
      if (!document) return done(std::unexpected(document.error()));
      if ((*document)->leader != leader_) return done(fail(Code::kConflict, "this term has ended"));
      done({});
    }));
  }

 private:
  net::Loop& loop_;
  DocumentWriter& writer_;
  ring::Leader leader_;
  SessionId name_;
  Mutations mutations_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

NodeLinks::NodeLinks(Options options)
    : options_(std::move(options)),
      gate_(std::make_shared<TermGate>(options_.loop, options_.writer, options_.leader,
                                       options_.mutations)),
      rng_(options_.seed),
      latencies_({.loop = options_.loop,
                  .credentials = options_.servers.credentials,
                  .session = gate_->session(),
                  .limits = options_.limits,
                  .seed = rng_.next()}) {
  // Rule 5: a driver's connections are named after its term.
  CHECK(options_.leader.term != Term{} && !options_.leader.session.value().empty());
  CHECK(options_.copies != nullptr && options_.log != nullptr);
}

NodeLinks::~NodeLinks() = default;

void NodeLinks::follow(const SharedDocument& document) {
  CHECK(document != nullptr);
  document_ = document;
  std::erase_if(links_, [&](const auto& link) {
    const bool left = ring::find_node(*document, link.first) == nullptr;
    if (left) latencies_.forget(link.first);
    if (left) let_go(link.first);
    return left;
  });
  for (const ring::Node& node : document->nodes) {
    CHECK(!node.members.empty());
    const std::string& address = node.members.front().address;
    Link& link = links_[node.id];
    if (link.store != nullptr && link.address == address) continue;
    const Result<net::Address> parsed = net::parse_address(address);
    CHECK(parsed.has_value());  // a document is validated when it is read
    if (link.store != nullptr) let_go(node.id);
    link.address = address;
    link.facts.node = node.id;
    latencies_.follow(node.id, *parsed);
    // A sweep under way may hold the store longer than the term lasts: the gate goes last.
    auto store = std::make_unique<backend::RedisStore>(
        options_.loop, *gate_, Rng{rng_.next()},
        backend::Pipe::Options{.address = *parsed,
                               .credentials = options_.servers.credentials,
                               .limits = options_.limits,
                               .on_state = [](bool) {},
                               .mutations = options_.mutations});
    link.store = std::shared_ptr<backend::RedisStore>(
        store.release(), [gate = gate_](backend::RedisStore* held) {
          const std::unique_ptr<backend::RedisStore> owned(held);
        });
  }
}

std::shared_ptr<backend::RedisStore> NodeLinks::store(NodeId node) const {
  const auto found = links_.find(node);
  return found == links_.end() ? nullptr : found->second.store;
}

void NodeLinks::poll(std::function<void()> done) {
  CHECK(done != nullptr);
  pollers_.push_back(std::move(done));
  if (std::exchange(polling_, true)) return;
  for (const auto& [node, link] : links_) unanswered_.insert(node);
  for (const auto& [node, link] : links_) {
    link.store->facts(
        guarded(alive_, [this, of = node, store = link.store.get(),
                         asked = options_.loop.now()](Result<backend::StoreFacts> facts) {
          // What another server was at the node's address before says nothing any more.
          if (const auto now = this->store(of); now.get() != store) return;
          take_facts(of, asked, std::move(facts));
          unanswered_.erase(of);
          end_poll();
        }));
  }
  options_.loop.post(guarded(alive_, [this] { end_poll(); }));
}

// Its connection goes, and the answer with it: a poll does not wait for that.
void NodeLinks::let_go(NodeId node) {
  unanswered_.erase(node);
  options_.loop.post(guarded(alive_, [this] { end_poll(); }));
}

void NodeLinks::end_poll() {
  if (!unanswered_.empty()) return;
  CHECK(polling_ || pollers_.empty());
  polling_ = false;
  for (const auto& done : std::exchange(pollers_, {})) done();
}

void NodeLinks::take_facts(NodeId node, Instant asked, Result<backend::StoreFacts> facts) {
  const auto found = links_.find(node);
  if (found == links_.end()) return;
  CHECK(asked <= options_.loop.now());
  Link& link = found->second;
  if (!facts) {
    link.facts.reachable = false;
    link.facts.error = facts.error().message;
    link.counters = {};
    return;
  }
  const backend::StoreIdentity& identity = facts->identity;
  const bool ours = identity.mark == document_->mark;
  const std::uint64_t keys = options_.copies->without_copies(node, facts->keys);
  CHECK(keys <= facts->keys);
  link.facts = {.node = node,
                .reachable = true,
                .error = "",
                .incarnation = identity.incarnation,
                .primary = identity.primary,
                .marked = ours,
                .foreign_mark = ours ? "" : identity.mark,
                .note = identity.note,
                .keys = keys,
                .copies = facts->keys - keys,
                .memory_bytes = facts->memory_bytes,
                .memory_bytes_max = facts->memory_bytes_max,
                .eviction_policy = facts->eviction_policy,
                .commands = facts->commands,
                .version = facts->version,
                .rdb_version = facts->rdb_version,
                .databases = other_databases(facts->keyspace),
                .scripts = script_calls(facts->command_stats)};
  link.counters = {.incarnation = identity.incarnation,
                   .command_stats = std::move(facts->command_stats),
                   .cpu_us = facts->cpu_us,
                   .asked = asked,
                   .seen = options_.loop.now()};
  if (!kinds_ && !learning_) learn_kinds(*link.store);
  if (!identity.note.server.empty()) {
    link.server = identity.note.server;
    link.server_run = identity.incarnation.run_id;
  }
  mark_if_new(node, link);
  note_if_due(node, link);
}

// Once a term, and again with the next poll when it failed.
void NodeLinks::learn_kinds(backend::RedisStore& store) {
  CHECK(!learning_ && !kinds_);
  learning_ = true;
  backend::Commands commands;
  commands.add({"COMMAND"});
  store.run(commands, guarded(alive_, [this](Result<backend::Replies> replies) {
              learning_ = false;
              if (!replies) return;
              const Result<route::CommandTable> table =
                  route::CommandTable::parse(replies->front());
              if (table) kinds_ = kinds_of(*table);
            }));
}

// An empty server that `up` itself started may be marked without asking anybody.
void NodeLinks::mark_if_new(NodeId node, const Link& link) {
  const NodeFacts& facts = link.facts;
  if (!options_.servers.mark_new_servers || facts.marked || !facts.foreign_mark.empty() ||
      facts.keys > 0)
    return;
  mark({node}, [log = options_.log](Result<void> marked) {
    if (!marked) log("cannot mark a new server: " + marked.error().message);
  });
}

void NodeLinks::mark(const std::vector<NodeId>& nodes, Marked done) {
  CHECK(document_ != nullptr && !document_->mark.empty());
  mark_each(
      nodes,
      [mark = document_->mark](const auto& store, Marked marked) {
        store->mark(mark, std::move(marked));
      },
      std::move(done));
}

void NodeLinks::take_over(const std::vector<NodeId>& nodes, Marked done) {
  mark_each(
      nodes, [this](const auto& store, const Marked& marked) { take_over_idle(store, marked); },
      std::move(done));
}

void NodeLinks::mark_each(const std::vector<NodeId>& nodes, const MarkOne& mark_one, Marked done) {
  struct Pending {
    std::size_t open;
    Result<void> result;
  };
  auto pending = std::make_shared<Pending>(Pending{.open = nodes.size(), .result = {}});
  if (nodes.empty()) return options_.loop.post([done] { done({}); });
  for (const NodeId node : nodes) {
    const std::shared_ptr<backend::RedisStore> target = store(node);
    const Marked marked = guarded(alive_, [this, node, pending, done](Result<void> result) {
      const auto link = links_.find(node);
      if (result && link != links_.end()) {
        link->second.facts.marked = true;
        link->second.facts.foreign_mark.clear();
        note(node, link->second);
      }
      if (!result && pending->result)
        pending->result = fail("node " + std::to_string(node.value()), result.error());
      CHECK(pending->open > 0);
      if (--pending->open == 0) done(pending->result);
    });
    if (target != nullptr) {
      mark_one(target, marked);
    } else {
      options_.loop.post([marked] { marked(fail(Code::kNotFound, "no such node")); });
    }
  }
}

// Two pools that both take a server for theirs lose keys: a router at work there is seen by its
// connections.
void NodeLinks::take_over_idle(const std::shared_ptr<backend::RedisStore>& store,
                               const Marked& done) {
  backend::Commands commands;
  commands.add({"CLIENT", "LIST"});
  store->run(commands, guarded(alive_, [this, store, done](Result<backend::Replies> replies) {
               if (!replies) return done(std::unexpected(replies.error()));
               if (replies->front().is_error())
                 return done(fail(Code::kUnavailable, "CLIENT LIST: " + replies->front().text));
               const auto ours = shown_names(*document_);
               for (const std::string& router : routers_at_work(replies->front().text)) {
                 if (ours.contains(router.substr(0, router.find(' ')))) continue;
                 return done(fail(Code::kConflict, "a router of another ring is at work there: " +
                                                       router + "; stop it first"));
               }
               store->take_over(document_->mark, done);
             }));
}

// Written at adoption, and at most once an hour afterwards: whoever finds the coordinator empty
// reads in it how far the ring had come.
void NodeLinks::note_if_due(NodeId node, Link& link) {
  const ring::Node* shown = ring::find_node(*document_, node);
  if (!link.facts.marked || shown == nullptr) return;
  const backend::RingNote& there = link.facts.note;
  const bool wrong =
      there.server.empty() || there.ring != document_->mark || there.pool != document_->pool;
  const std::int64_t age = options_.loop.wall_now().value() - there.written.value();
  // The name among them: one server under two names would be written to for ever.
  const bool changed = there.epoch != document_->epoch || there.node != shown->name;
  const bool old = changed && std::abs(age) >= kNoteEvery.count();
  if (wrong || old) note(node, link);
}

void NodeLinks::note(NodeId node, Link& link) {
  const ring::Node* shown = ring::find_node(*document_, node);
  if (link.noting || shown == nullptr) return;
  CHECK(link.facts.marked);  // who carries no marker is not ours to write to (rule 12)
  link.noting = true;
  const UnixMillis now = options_.loop.wall_now();
  const bool same_life = link.server_run == link.facts.incarnation.run_id;
  const bool known = same_life && !link.server.empty();
  const backend::RingNote& there = link.facts.note;
  std::string server = link.server;
  if (!known) {
    server = ring::to_hex(Token{rng_.next()});
    server += ring::to_hex(Token{rng_.next()});
  }
  backend::RingNote wanted{.pool = document_->pool,
                           .ring = document_->mark,
                           .node = shown->name,
                           .server = std::move(server),
                           .epoch = document_->epoch,
                           .adopted = there.ring == document_->mark ? there.adopted : now,
                           .written = now};
  link.store->write_note(std::move(wanted),
                         guarded(alive_, [this, node](Result<backend::RingNote> written) {
                           const auto found = links_.find(node);
                           if (found == links_.end()) return;
                           found->second.noting = false;
                           if (written) found->second.facts.note = std::move(*written);
                         }));
}

std::vector<NodeFacts> NodeLinks::facts() const {
  std::vector<NodeFacts> all;
  for (const auto& [node, link] : links_) all.push_back(link.facts);
  return all;
}

const NodeFacts* NodeLinks::facts(NodeId node) const {
  const auto found = links_.find(node);
  return found == links_.end() ? nullptr : &found->second.facts;
}

const ServerCounters* NodeLinks::counters(NodeId node) const {
  const auto found = links_.find(node);
  const bool known = found != links_.end() && !found->second.counters.command_stats.empty();
  return known ? &found->second.counters : nullptr;
}

}  // namespace cleave::control
