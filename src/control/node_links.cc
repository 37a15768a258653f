#include "control/node_links.h"

#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/sweep.h"

namespace cleave::control {

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
                  .credentials = options_.credentials,
                  .session = gate_->session(),
                  .limits = options_.limits,
                  .seed = rng_.next()}) {}

NodeLinks::~NodeLinks() = default;

void NodeLinks::follow(const SharedDocument& document) {
  document_ = document;
  std::erase_if(links_, [&](const auto& link) {
    const bool left = ring::find_node(*document, link.first) == nullptr;
    if (left) latencies_.forget(link.first);
    return left;
  });
  for (const ring::Node& node : document->nodes) {
    const std::string& address = node.members.front().address;
    Link& link = links_[node.id];
    if (link.store != nullptr && link.address == address) continue;
    const Result<net::Address> parsed = net::parse_address(address);
    CHECK(parsed.has_value());  // a document is validated when it is read
    link.address = address;
    link.facts.node = node.id;
    latencies_.follow(node.id, *parsed);
    // A sweep under way may hold the store longer than the term lasts: the gate goes last.
    auto store = std::make_unique<backend::RedisStore>(
        options_.loop, *gate_, Rng{rng_.next()},
        backend::Pipe::Options{.address = *parsed,
                               .credentials = options_.credentials,
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
  pollers_.push_back(std::move(done));
  if (polls_open_ > 0) return;
  polls_open_ = 1;  // held until all are asked, so that it cannot end in between
  for (const auto& [node, link] : links_) {
    ++polls_open_;
    link.store->facts(guarded(
        alive_, [this, of = node, asked = options_.loop.now()](Result<backend::StoreFacts> facts) {
          take_facts(of, asked, std::move(facts));
          poll_answered();
        }));
  }
  options_.loop.post(guarded(alive_, [this] { poll_answered(); }));
}

void NodeLinks::poll_answered() {
  if (--polls_open_ > 0) return;
  for (const auto& done : std::exchange(pollers_, {})) done();
}

void NodeLinks::take_facts(NodeId node, Instant asked, Result<backend::StoreFacts> facts) {
  const auto found = links_.find(node);
  if (found == links_.end()) return;
  Link& link = found->second;
  if (!facts) {
    link.facts.reachable = false;
    link.facts.error = facts.error().message;
    link.counters = {};
    return;
  }
  const backend::StoreIdentity& identity = facts->identity;
  const bool ours = identity.mark == document_->mark;
  link.facts = {.node = node,
                .reachable = true,
                .error = "",
                .incarnation = identity.incarnation,
                .marked = ours,
                .foreign_mark = ours ? "" : identity.mark,
                .keys = facts->keys,
                .memory_bytes = facts->memory_bytes,
                .memory_bytes_max = facts->memory_bytes_max,
                .commands = facts->commands,
                .version = facts->version};
  link.counters = {.incarnation = identity.incarnation,
                   .command_stats = std::move(facts->command_stats),
                   .asked = asked,
                   .seen = options_.loop.now()};
  if (!kinds_ && !learning_) learn_kinds(*link.store);
  mark_if_new(node, link);
}

// Once a term, and again with the next poll when it failed.
void NodeLinks::learn_kinds(backend::RedisStore& store) {
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
  if (!options_.mark_new_servers || facts.marked || !facts.foreign_mark.empty() || facts.keys > 0)
    return;
  mark({node}, [log = options_.log](Result<void> marked) {
    if (!marked) log("cannot mark a new server: " + marked.error().message);
  });
}

void NodeLinks::mark(const std::vector<NodeId>& nodes, std::function<void(Result<void>)> done) {
  struct Pending {
    std::size_t open;
    Result<void> result;
  };
  auto pending = std::make_shared<Pending>(Pending{.open = nodes.size(), .result = {}});
  if (nodes.empty()) return options_.loop.post([done] { done({}); });
  for (const NodeId node : nodes) {
    const std::shared_ptr<backend::RedisStore> target = store(node);
    const std::function<void(Result<void>)> marked =
        guarded(alive_, [this, node, pending, done](Result<void> result) {
          if (result && links_.contains(node)) links_[node].facts.marked = true;
          if (!result && pending->result)
            pending->result = fail("node " + std::to_string(node.value()), result.error());
          if (--pending->open == 0) done(pending->result);
        });
    if (target != nullptr) {
      target->mark(document_->mark, marked);
    } else {
      options_.loop.post([marked] { marked(fail(Code::kNotFound, "no such node")); });
    }
  }
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
