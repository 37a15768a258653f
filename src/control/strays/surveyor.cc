#include "control/strays/surveyor.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/observe/info_facts.h"
#include "control/observe/key_walk.h"

namespace cleave::control {
namespace {

constexpr std::size_t kSampledKeys = 4'000;  // of all servers, for the search

auto active(const ring::Document& document) {
  std::vector<const ring::Node*> nodes;
  for (const ring::Node& node : document.nodes) {
    if (node.state == ring::NodeState::kActive) nodes.push_back(&node);
  }
  return nodes;
}

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// Runs `done` when it has been called so many times.
std::function<void()> after_all(std::size_t calls, std::function<void()> done) {
  CHECK(calls > 0);
  return [left = std::make_shared<std::size_t>(calls), done = std::move(done)] {
    CHECK(*left > 0);
    if (--*left == 0) done();
  };
}

bool all_there(const std::vector<ring::PlacedNode>& nodes) {
  std::set<std::string> names;
  for (const ring::PlacedNode& node : nodes) names.insert(node.name);
  return names.size() == nodes.size();
}

}  // namespace

// One server that is being looked at.
struct Surveyor::Look {
  SurveyedNode node;
  std::uint64_t keys_max = 0;
  std::size_t sampled_max = 0;
  StrayCounter counter;
  std::vector<std::string> sample = {};
};

std::shared_ptr<Surveyor::Look> Surveyor::new_look(NodeId node, std::uint64_t keys_max,
                                                   std::size_t listed_max) const {
  CHECK(options_.view() != nullptr);
  auto look = std::make_shared<Look>(
      Look{.node = {}, .keys_max = keys_max, .counter = StrayCounter(node, listed_max)});
  look->node.facts.node = node;
  if (const NodeFacts* const facts = options_.links.facts(node)) look->node.facts = *facts;
  look->sampled_max = sampled_keys(options_.view()->document().nodes.size());
  return look;
}

void Surveyor::walk(const std::shared_ptr<Look>& look, std::function<void()> done) {
  CHECK(look != nullptr && done != nullptr);
  const NodeFacts& facts = look->node.facts;
  const auto store = options_.links.store(facts.node);
  if (store == nullptr || !facts.reachable) {
    look->node.look_error = facts.error.empty() ? "it was not reached yet" : facts.error;
    return options_.loop.post(std::move(done));
  }
  walk_keys(
      {.loop = options_.loop,
       .store = store,
       .view = options_.view,
       .page =
           [this, look](const std::vector<std::string>& keys, const ring::RingSnapshot& before) {
             const ring::RingSnapshot now = options_.view();
             for (const std::string& key : keys) {
               look->counter.add(key, *before, *now);
               if (look->sample.size() < look->sampled_max) look->sample.push_back(key);
             }
             return look->counter.count().keys < look->keys_max ? WalkOn::kYes : WalkOn::kNo;
           },
       .done =
           [this, look, done = std::move(done)](const Result<WalkEnd>& end) {
             if (!end) look->node.look_error = end.error().message;
             if (end && *end == WalkEnd::kAllMet) look->counter.end();
             StrayFacts& strays = look->node.facts.strays;
             strays.known = end.has_value();
             strays.count = look->counter.count();
             if (end) options_.strays.take(look->node.facts.node, strays.count);
             strays.since = options_.strays.facts(look->node.facts.node).since;
             done();
           },
       .alive = alive_});
}

void Surveyor::survey(std::function<void(Survey)> done) {
  options_.links.poll(guarded(alive_, [this, done = std::move(done)] {
    auto looks = std::make_shared<std::vector<std::shared_ptr<Look>>>();
    for (const ring::Node& node : options_.view()->document().nodes)
      looks->push_back(new_look(node.id, kSurveyedKeys, StrayCount::kExamples));
    const std::function<void()> one_done = after_all(looks->size(), [this, looks, done] {
      Survey survey;
      for (const auto& look : *looks) survey.nodes.push_back(look->node);
      std::map<NodeId, std::vector<std::string>> samples;
      for (const auto& look : *looks) samples[look->node.facts.node] = std::move(look->sample);
      search_schemes({.loop = options_.loop,
                      .view = options_.view(),
                      .samples = std::move(samples),
                      .alive = alive_},
                     std::move(survey), done);
    });
    for (const auto& look : *looks) walk(look, one_done);
  }));
}

void Surveyor::look_at(NodeId node, std::function<void(SurveyedNode)> done) {
  options_.links.poll(guarded(alive_, [this, node, done = std::move(done)] {
    const auto look = new_look(node, kSurveyedKeys, StrayCount::kExamples);
    walk(look, [look, done] { done(look->node); });
  }));
}

void Surveyor::list(std::function<void(StrayList)> done) {
  options_.links.poll(guarded(alive_, [this, done = std::move(done)] {
    auto looks = std::make_shared<std::vector<std::shared_ptr<Look>>>();
    for (const ring::Node& node : options_.view()->document().nodes)
      looks->push_back(new_look(node.id, kListedKeys, StrayList::kListed));
    const std::function<void()> one_done = after_all(looks->size(), [looks, done] {
      StrayList list;
      for (const auto& look : *looks) {
        list.nodes.push_back({.node = look->node.facts.node,
                              .error = look->node.look_error,
                              .count = look->node.facts.strays.count});
      }
      done(std::move(list));
    });
    for (const auto& look : *looks) walk(look, one_done);
  }));
}

namespace {

// A search under way.
struct Search {
  SchemeSamples where;
  Survey survey;
  ring::SchemeSearch schemes;
  std::uint64_t elsewhere = 0;  // of the sample, by the pool's own ring
  std::function<void(Survey)> done;
};

// One scheme a turn: a large pool's points take milliseconds to place.
void search_on(const std::shared_ptr<Search>& search) {
  if (search->where.alive.expired()) return;
  CHECK(search->done != nullptr);
  if (search->schemes.step()) return search->where.loop.post([search] { search_on(search); });
  const std::optional<ring::SchemeFit>& best = search->schemes.best();
  if (best && best->elsewhere * 2 < search->elsewhere) search->survey.fits = best;
  search->done(std::move(search->survey));
}

}  // namespace

std::size_t sampled_keys(std::size_t servers) {
  CHECK(servers > 0);
  return std::max<std::size_t>(kSampledKeys / servers, 16);
}

void search_schemes(SchemeSamples where, Survey survey, std::function<void(Survey)> done) {
  const auto misplaced = [](const SurveyedNode& node) {
    return node.facts.strays.count.share_ppm() > kMisplacedMaxPpm;
  };
  if (std::ranges::none_of(survey.nodes, misplaced)) return done(std::move(survey));
  const ring::RingSnapshot view = where.view;
  CHECK(view != nullptr);
  std::vector<std::vector<std::string>> seen;
  std::uint64_t elsewhere = 0;
  std::size_t keys = 0;
  for (const ring::Node* const node : active(view->document())) {
    seen.push_back(std::move(where.samples[node->id]));
    keys += seen.back().size();
    for (const std::string& key : seen.back())
      elsewhere += view->owner(view->token_of(key)) != node->id ? 1U : 0U;
  }
  if (keys < Surveyor::kFitKeysMin) return done(std::move(survey));
  search_on(std::make_shared<Search>(
      Search{.where = std::move(where),
             .survey = std::move(survey),
             .schemes = {names_of_nodes(view->document()), std::move(seen)},
             .elsewhere = elsewhere,
             .done = std::move(done)}));
}

// ---- what it means ------------------------------------------------------------------------------

std::vector<ring::NamedNodes> names_of_nodes(const ring::Document& document) {
  ring::NamedNodes names{.what = "their names", .nodes = {}};
  ring::NamedNodes addresses{.what = "their addresses", .nodes = {}};
  ring::NamedNodes hosts{.what = "their hosts without ports", .nodes = {}};
  for (const ring::Node* const node : active(document)) {
    const std::string& address = node->members.front().address;
    CHECK(node->id != NodeId{} && !node->members.empty());
    const std::uint32_t position = node->id.value() - 1;
    const auto placed = [&](const std::string& name) {
      return ring::PlacedNode{.name = name, .weight = node->weight, .position = position};
    };
    names.nodes.push_back(placed(node->hash_key.empty() ? node->name : node->hash_key));
    addresses.nodes.push_back(placed(address));
    hosts.nodes.push_back(placed(host_of(address)));
  }
  std::vector<ring::NamedNodes> all{std::move(names)};
  for (ring::NamedNodes* const more : {&addresses, &hosts}) {
    if (all_there(more->nodes)) all.push_back(std::move(*more));
  }
  return all;
}

namespace {

std::string misplaced_text(const SurveyedNode& node, const std::string& name,
                           const ring::Document& document) {
  const StrayCount& count = node.facts.strays.count;
  std::string text = "node " + name + ": " + describe(count) + " are not where this ring looks";
  if (!count.examples.empty()) {
    const Stray& first = count.examples.front();
    const ring::Node* const owner = ring::find_node(document, first.owner);
    text += ", e.g. " + quoted_key(first.key) + ", which it looks for at " +
            (owner == nullptr ? "?" : owner->name);
  }
  return text;
}

}  // namespace

std::string fit_text(const ring::SchemeFit& fit) {
  return "the scheme " + describe(fit) + " finds all but " + std::to_string(fit.elsewhere) +
         " of " + std::to_string(fit.keys) + " of them (docs/schemes.md says how a pool gets it)";
}

Result<void> check_adoption(const Survey& survey, const std::vector<NodeId>& nodes,
                            const ring::Document& document) {
  std::string against;
  const auto add = [&](const std::string& what) {
    against += (against.empty() ? "" : "; ") + what;
  };
  bool misplaced = false;
  for (const SurveyedNode& node : survey.nodes) {
    const ring::Node* const known = ring::find_node(document, node.facts.node);
    if (known == nullptr || node.facts.marked) continue;
    if (std::ranges::find(nodes, node.facts.node) == nodes.end()) continue;
    if (!node.look_error.empty()) {
      return fail(Code::kUnavailable, "node " + known->name +
                                          ": its keys could not be looked at: " + node.look_error +
                                          "; nothing was marked");
    }
    if (node.facts.strays.count.share_ppm() > kMisplacedMaxPpm) {
      misplaced = true;
      add(misplaced_text(node, known->name, document));
    }
    if (!node.facts.databases.empty()) {
      add("node " + known->name + ": keys that no client reaches through a router, in " +
          describe(node.facts.databases));
    }
  }
  if (against.empty()) return {};
  if (misplaced && survey.fits) {
    add(fit_text(*survey.fits));
  }
  return fail(Code::kConflict, against +
                                   "; nothing was marked. Such keys are not found through a "
                                   "router; to adopt all the same, say --force");
}

}  // namespace cleave::control
