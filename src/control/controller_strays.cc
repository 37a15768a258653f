// Orders about what lies on the servers (operator.h): adopt, strays, a node that leaves.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/controller.h"
#include "control/controller_impl.h"
#include "control/orders/describe.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

constexpr seconds kSurveyEvery{600};
constexpr std::string_view kNotTakenDown =
    "the servers are marked; what strays they have was not taken down, see 'cleave strays "
    "--accept': ";

// Why a node is not forgotten while its server is as it was found; empty: nothing is against it.
std::string left_behind(const SurveyedNode& node, const std::string& name) {
  if (!node.look_error.empty()) {
    return "remove: whether keys are left at node '" + name +
           "' could not be looked at: " + node.look_error +
           "; to forget it all the same, say --force";
  }
  const StrayCount& count = node.facts.strays.count;
  std::uint64_t keys = count.whole ? count.keys : std::max(node.facts.keys, count.keys);
  for (const OtherDatabase& each : node.facts.databases) keys += each.keys;
  if (keys == 0) return {};
  return "remove: " + std::to_string(keys) + " keys are left at node '" + name + "'" +
         examples_of(count, 3) +
         ": nobody would look for them there. 'cleave strays --to-owner' moves them to where the "
         "ring looks, '--set-aside FILE' into a file; to forget the node all the same, say --force";
}

// How many strays there may be, by what was seen.
std::uint64_t most_of(const StrayCount& count, std::uint64_t keys) {
  if (count.whole) return count.strays;
  StrayCount most = count;
  most.strays += count.keys * count.error_ppm() / 1'000'000 + 1;
  return most.estimate(keys);
}

}  // namespace

void Controller::Impl::survey(Done<Survey> done) {
  if (surveyor == nullptr)
    return options.loop.post([done, why = not_leading()] { done(std::unexpected(why)); });
  surveyor->survey([done = std::move(done)](Survey found) { done(std::move(found)); });
}

// Which known scheme would find the keys is worth one look, not one for each node that is met.
void Controller::Impl::look_for_fit() {
  CHECK(stray_watch != nullptr);  // it is what asks
  if (surveyor == nullptr || options.loop.now() < next_survey) return;
  next_survey = options.loop.now() + kSurveyEvery;
  surveyor->survey([this](const Survey& found) {
    fitting = found.fits;
    if (!fitting) return;
    decide({.at = options.loop.wall_now(),
            .kind = "strays",
            .subject = "ring",
            .reason = "the ring does not find the keys where they lie: " + fit_text(*fitting),
            .predicted = "",
            .real = ""});
  });
}

void Controller::Impl::list_strays(Done<StrayList> done) {
  if (surveyor == nullptr)
    return options.loop.post([done, why = not_leading()] { done(std::unexpected(why)); });
  surveyor->list([done = std::move(done)](StrayList found) { done(std::move(found)); });
}

void Controller::Impl::adopt(AdoptOrder order, Done<void> done) {
  survey([this, order, done = std::move(done)](const Result<Survey>& found) {
    if (!found) return done(std::unexpected(found.error()));
    const Result<void> fits = check_adoption(*found, order.nodes, membership.view()->document());
    if (!fits && order.force == Force::kNo) return done(fits);
    mark(order.nodes, *found, done);
  });
}

// What was there at adoption is known; more than that is new.
void Controller::Impl::mark(const std::vector<NodeId>& nodes, const Survey& found,
                            Done<void> done) {
  std::vector<ring::AcceptedStrays> known;
  for (const SurveyedNode& node : found.nodes) {
    const StrayCount& count = node.facts.strays.count;
    const bool asked = std::ranges::find(nodes, node.facts.node) != nodes.end();
    if (!asked || node.facts.marked || count.strays == 0) continue;
    known.push_back({.node = node.facts.node, .strays = most_of(count, node.facts.keys)});
  }
  CHECK(links != nullptr);
  links->mark(nodes, guarded(alive, [this, known = std::move(known),
                                     done = std::move(done)](Result<void> marked) {
                if (!marked || known.empty()) return done(marked);
                take_down(known, [done](const Result<void>& taken) {
                  if (taken) return done({});
                  Error why = taken.error();
                  why.message.insert(0, kNotTakenDown);
                  done(std::unexpected(std::move(why)));
                });
              }));
}

void Controller::Impl::take_down(std::vector<ring::AcceptedStrays> known, Done<void> done) {
  CHECK(done != nullptr);
  std::uint64_t strays_known = 0;
  for (const ring::AcceptedStrays& each : known) strays_known += each.strays;
  order([known](const ring::Document& document) { return ring::accept_strays(document, known); },
        "strays", std::to_string(strays_known) + " strays are known",
        guarded(alive, [this, known, done = std::move(done)](Result<void> taken) {
          for (const ring::AcceptedStrays& each : known) {
            if (taken && stray_watch != nullptr) stray_watch->accepted_now(each.node, each.strays);
          }
          done(std::move(taken));
        }));
}

void Controller::Impl::accept_strays(Done<std::uint64_t> done) {
  list_strays([this, done = std::move(done)](const Result<StrayList>& list) {
    if (!list) return done(std::unexpected(list.error()));
    std::vector<ring::AcceptedStrays> known;
    std::uint64_t strays_known = 0;
    std::string silent;
    for (const StrayList::Node& node : list->nodes) {
      if (!node.error.empty()) {
        silent += "; node '" + name_of(membership.view()->document(), node.node) +
                  "' could not be looked at: " + node.error;
        continue;
      }
      const NodeFacts* const facts = links == nullptr ? nullptr : links->facts(node.node);
      const std::uint64_t most = most_of(node.count, facts == nullptr ? 0 : facts->keys);
      known.push_back({.node = node.node, .strays = most});
      strays_known += most;
    }
    take_down(std::move(known), [done, strays_known, silent](const Result<void>& taken) {
      if (!taken) return done(std::unexpected(taken.error()));
      if (silent.empty()) return done(strays_known);
      done(fail(Code::kUnavailable,
                std::to_string(strays_known) + " strays are known now" + silent));
    });
  });
}

void Controller::Impl::forget_node(NodeId node, Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order([node,
         now](const ring::Document& document) { return ring::remove_node(document, node, now); },
        "node", "remove " + node_name(node), std::move(done));
}

// What the document says against it comes first; then what is on its server.
void Controller::Impl::remove_node(NodeId node, Force force, Done<void> done) {
  const auto answer = [this, done](Result<void> result) {
    options.loop.post([done, result = std::move(result)] { done(result); });
  };
  if (force == Force::kYes) return forget_node(node, std::move(done));
  if (surveyor == nullptr) {
    Error why = not_leading();
    why.message += ", which looks whether keys are left there; or say --force";
    return answer(std::unexpected(std::move(why)));
  }
  const ring::Document& document = membership.view()->document();
  const Result<ring::Document> without = ring::remove_node(document, node, options.loop.wall_now());
  if (!without) return answer(std::unexpected(without.error()));
  CHECK(ring::find_node(document, node) != nullptr);
  const std::string name = ring::find_node(document, node)->name;
  surveyor->look_at(node, [this, node, name, done = std::move(done)](const SurveyedNode& found) {
    const std::string against = left_behind(found, name);
    if (!against.empty()) return done(fail(Code::kConflict, against));
    forget_node(node, done);
  });
}

void Controller::Impl::move_strays(StrayPage from, Done<StraysHandled> done) {
  if (mover != nullptr) return mover->move(std::move(from), std::move(done));
  options.loop.post([done, why = not_leading()] { done(std::unexpected(why)); });
}

void Controller::Impl::read_strays(StrayPage from, Done<StrayDumps> done) {
  if (mover != nullptr) return mover->read(std::move(from), std::move(done));
  options.loop.post([done, why = not_leading()] { done(std::unexpected(why)); });
}

void Controller::Impl::remove_strays(NodeId node, std::vector<StrayDump> dumps,
                                     Done<StraysHandled> done) {
  if (mover != nullptr) return mover->remove(node, std::move(dumps), std::move(done));
  options.loop.post([done, why = not_leading()] { done(std::unexpected(why)); });
}

}  // namespace cleave::control
