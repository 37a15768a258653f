#include "balance/steps/parting.h"

#include <algorithm>
#include <tuple>

#include "balance/steps/parts.h"
#include "balance/steps/unsplittable.h"
#include "base/check.h"
#include "base/ppm.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kPart = 4;  // of the token: a smaller gain is not worth a hotter node

// How good it is, best lowest.
struct Merit {
  std::uint32_t unavoidable = 0;  // level that the heavy tokens alone give the higher node
  std::uint64_t excess = 0;       // that is left for others to take, of both nodes
  std::uint32_t peak = 0;         // level of the higher node at once

  auto rank() const { return std::tuple(unavoidable, excess, peak); }
};

class Chooser {
 public:
  Chooser(const PartingTask& task, const BoardNode& source)
      : task_(task),
        constants_(task.board.constants()),
        source_(source),
        own_(heavy_on(task.heavy, source.id)),
        held_(sum(own_)) {}

  std::optional<Parting> run(const std::vector<NodeId>& targets) {
    std::optional<Parting> best;
    Merit merit;
    for (const NodeId id : targets) {
      const BoardNode& target = task_.board.node(id);
      const std::uint64_t others = sum(heavy_on(task_.heavy, id));
      for (const HeavyToken& each : own_) {
        if (!may_go(each, target)) continue;
        const Merit after = merit_of(each, target, others);
        if (!worth(each, target, after)) continue;
        if (best && merit.rank() <= after.rank()) continue;
        merit = after;
        best = {.token = each.token, .load = each.load, .target = id};
      }
    }
    return best;
  }

 private:
  static std::uint64_t sum(const std::vector<HeavyToken>& tokens) {
    std::uint64_t load = 0;
    for (const HeavyToken& each : tokens) load += each.load;
    return load;
  }

  std::uint64_t excess(std::uint64_t load, const BoardNode& node) const {
    return above(load, ppm_of(node.fair, task_.goal.sink_ppm));
  }

  // As low as the node can be brought by giving away everything else, which is not done below the
  // goal.
  std::uint32_t unavoidable(std::uint64_t heavy, const BoardNode& node) const {
    return std::max(level_ppm(heavy, node.fair), task_.goal.sink_ppm);
  }

  // What fits moves as a piece, with others.
  bool may_go(const HeavyToken& token, const BoardNode& target) const {
    const bool fits =
        Wide{token.load} * constants_.unseen_ppm <= Wide{room_of(target, constants_)} * kMillion;
    return !fits && token.load <= source_.load && !task_.board.moving({token.token, token.token}) &&
           !ring::contains(task_.calm.dwelling(), token.token) &&
           !ring::contains(task_.calm.left(target.id), token.token);
  }

  Merit merit_of(const HeavyToken& token, const BoardNode& target, std::uint64_t others) const {
    CHECK(token.load <= source_.load);
    const std::uint64_t stays = source_.load - token.load;
    const std::uint64_t comes = target.load + token.load;
    return {.unavoidable = std::max(unavoidable(above(held_, token.load), source_),
                                    unavoidable(others + token.load, target)),
            .excess = excess(stays, source_) + excess(comes, target),
            .peak = std::max(level_ppm(stays, source_.fair), level_ppm(comes, target.fair))};
  }

  bool worth(const HeavyToken& token, const BoardNode& target, const Merit& after) const {
    const std::uint32_t weight =
        std::min(level_ppm(token.load, source_.fair), level_ppm(token.load, target.fair));
    if (Wide{after.peak} * kPart + weight > Wide{source_.level()} * kPart) return false;
    if (task_.why == PartingFor::kNeed) {
      const std::uint32_t before = unavoidable(held_, source_);
      return after.unavoidable <= before - ppm_of(before, constants_.larger_gain_ppm);
    }
    const std::uint64_t too_much = excess(source_.load, source_) + excess(target.load, target);
    return above(too_much, after.excess) >= token.load / kPart;
  }

  const PartingTask& task_;
  const Constants& constants_;
  const BoardNode& source_;
  std::vector<HeavyToken> own_;
  std::uint64_t held_;  // load of all of them
};

}  // namespace

std::optional<Parting> choose_parting(const PartingTask& task, const BoardNode& source,
                                      const std::vector<NodeId>& targets) {
  return Chooser(task, source).run(targets);
}

}  // namespace cleave::balance
