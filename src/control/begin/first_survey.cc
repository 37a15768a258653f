#include "control/begin/first_survey.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/observe/info_facts.h"
#include "control/observe/key_walk.h"
#include "control/strays/surveyor.h"

namespace cleave::control {

// One server that is being looked at.
struct FirstSurvey::Look {
  SurveyedNode node;
  StrayCounter counter;
  std::vector<std::string> sample = {};
};

namespace {

ServerLook::Options look_at(const ring::RingView& view, ServerLook::Options options) {
  options.nodes = view.document().nodes;
  return options;
}

}  // namespace

FirstSurvey::FirstSurvey(ServerLook::Options options, ring::RingSnapshot view, Done done)
    : loop_(options.loop),
      view_(std::move(view)),
      done_(std::move(done)),
      look_(look_at(*view_, std::move(options))) {}

void FirstSurvey::start() {
  look_.ask(guarded(alive_, [this](const std::vector<FoundServer>& found) {
    const std::vector<ring::Node>& nodes = view_->document().nodes;
    CHECK(found.size() == nodes.size() && looks_.empty());
    open_ = 1 + 2 * nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      looks_.push_back(std::make_shared<Look>(
          Look{.node = {}, .counter = StrayCounter(nodes[i].id, StrayCount::kExamples)}));
      NodeFacts& facts = looks_[i]->node.facts;
      facts.node = nodes[i].id;
      facts.reachable = found[i].error.empty();
      facts.error = found[i].error;
      facts.keys = found[i].keys;
      looks_[i]->node.look_error = found[i].error;
      if (facts.reachable) {
        walk(i);
        ask_databases(i);
      } else {
        open_ -= 2;
      }
    }
    loop_.post(guarded(alive_, [this] { one_done(); }));
  }));
}

void FirstSurvey::walk(std::size_t index) {
  CHECK(index < looks_.size() && open_ > 0);
  const std::shared_ptr<Look> look = looks_[index];
  const std::size_t sampled_max = sampled_keys(looks_.size());
  walk_keys({.loop = loop_,
             // Ours: it lives as long as `alive`.
             .store = {std::shared_ptr<void>(), look_.store(index)},
             .view = [view = view_] { return view; },
             .page =
                 [look, sampled_max](const std::vector<std::string>& keys,
                                     const ring::RingSnapshot& view) {
                   for (const std::string& key : keys) {
                     look->counter.add(key, *view, *view);
                     if (look->sample.size() < sampled_max) look->sample.push_back(key);
                   }
                   const bool more = look->counter.count().keys < Surveyor::kSurveyedKeys;
                   return more ? WalkOn::kYes : WalkOn::kNo;
                 },
             .done =
                 [this, look](const Result<WalkEnd>& end) {
                   if (!end) look->node.look_error = end.error().message;
                   if (end && *end == WalkEnd::kAllMet) look->counter.end();
                   look->node.facts.strays.known = end.has_value();
                   look->node.facts.strays.count = look->counter.count();
                   one_done();
                 },
             .alive = alive_});
}

void FirstSurvey::ask_databases(std::size_t index) {
  backend::Commands commands;
  commands.add({"INFO", "keyspace"});
  look_.store(index)->run(
      commands,
      guarded(alive_, [this, look = looks_[index]](const Result<backend::Replies>& replies) {
        if (replies) look->node.facts.databases = other_databases(replies->front().text);
        one_done();
      }));
}

void FirstSurvey::one_done() {
  CHECK(open_ > 0);
  if (--open_ > 0) return;
  Survey survey;
  std::map<NodeId, std::vector<std::string>> samples;
  for (const auto& look : looks_) {
    survey.nodes.push_back(look->node);
    samples[look->node.facts.node] = std::move(look->sample);
  }
  search_schemes({.loop = loop_, .view = view_, .samples = std::move(samples), .alive = alive_},
                 std::move(survey), [this](const Survey& found) { done_(found); });
}

}  // namespace cleave::control
