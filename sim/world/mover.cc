#include "sim/world/mover.h"

#include <utility>

namespace cleave::sim {
namespace {

constexpr std::uint64_t kMoverRng = 0x6D6F766572;
constexpr milliseconds kQuietMax{20'000};  // longer than it is quiet: most wait for the burst

}  // namespace

Mover::Mover(World& world) : world_(world), rng_(world.scheduler_.fork(kMoverRng)) {}

void Mover::start() { schedule(); }

void Mover::schedule() {
  world_.scheduler_.at(world_.scheduler_.now() + wait(), [this] {
    if (ended_) return;
    order();
    schedule();
  });
}

nanoseconds Mover::wait() {
  const auto up_to = [this](nanoseconds most) {
    return nanoseconds(rng_.below(static_cast<std::uint64_t>(most.count())));
  };
  const nanoseconds brief = up_to(world_.profile_.move_interval_max);
  if (world_.resting_) return brief;
  return world_.profile_.rhythm.wait(world_.scheduler_.now(), brief, up_to(kQuietMax));
}

bool Mover::order() {
  SimRouter* leader = world_.leader();
  if (leader == nullptr || world_.checker_.view() == nullptr) return false;
  const ring::RingView& view = *world_.checker_.view();
  settle_kept(*leader, view);
  if (view.document().moves.size() >= 2) return false;
  // Often the same again, or back: what an earlier attempt left behind must not show.
  ring::MoveRequest request = rng_.chance(1, 2) ? last_ : random_request(view);
  if (rng_.chance(1, 4)) std::swap(request.source, request.destination);
  if (request.ranges.empty()) return false;
  last_ = request;
  leader->controller()->orders().moves().move(std::move(request), [](const Result<MoveId>&) {});
  return true;
}

// What a person does about what is kept.
void Mover::settle_kept(SimRouter& leader, const ring::RingView& view) {
  for (const ring::Leftover& entry : view.document().leftovers) {
    if (!entry.kept() || !rng_.chance(1, 4)) continue;
    using GiveUp = control::MoveOrders::GiveUp;
    const bool others = world_.leftovers_->has_foreign(view, entry);
    if (!others && rng_.chance(2, 3))
      leader.controller()->orders().moves().take_back(entry.move, [](const Result<MoveId>&) {});
    else
      leader.controller()->orders().moves().give_up(
          entry.move, others ? GiveUp::kForget : GiveUp::kCleanAll, [](const Result<void>&) {});
    return;
  }
}

// A piece of the entry, often a small one around a key that is in use.
ring::TokenRange Mover::random_piece(const ring::RingView& view, const ring::Entry& entry) {
  if (rng_.chance(1, 4)) return entry.range;
  const std::vector<std::string>& keys = world_.workload_->keys();
  Token middle = view.token_of(keys[rng_.below(keys.size())]);
  if (!entry.range.contains(middle)) return entry.range;
  const std::uint64_t below = middle.value() - entry.range.first.value();
  const std::uint64_t above = entry.range.last.value() - middle.value();
  const std::uint64_t first = middle.value() - (below == 0 ? 0 : rng_.below(below));
  const std::uint64_t last = middle.value() + (above == 0 ? 0 : rng_.below(above));
  return {Token{first}, Token{last}};
}

ring::MoveRequest Mover::random_request(const ring::RingView& view) {
  const std::vector<std::string>& keys = world_.workload_->keys();
  ring::MoveRequest request{.ranges = {},
                            .source = view.owner(view.token_of(keys[rng_.below(keys.size())])),
                            .destination = {},
                            .reason = std::string(kReason),
                            .now = world_.scheduler_.wall_now()};
  const auto& nodes = view.document().nodes;
  do {
    request.destination = nodes[rng_.below(nodes.size())].id;
  } while (request.destination == request.source);
  std::vector<ring::TokenRange> pieces;
  // The entries that hold keys in use, and a few others.
  for (const std::string& key : keys) {
    const ring::Entry& entry = view.entry(view.find(view.token_of(key)));
    if (entry.node != request.source || entry.move != ring::kNone) continue;
    if (rng_.chance(1, 2)) pieces.push_back(random_piece(view, entry));
  }
  request.ranges = ring::normalised(std::move(pieces));
  return request;
}

}  // namespace cleave::sim
