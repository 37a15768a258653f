#include "rehearse/scenes/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ring/edits/whole_move.h"

namespace cleave::rehearse {

Cluster::Cluster(ring::Document document, std::vector<Token> keys) : keys_(std::move(keys)) {
  const auto view = ring::RingView::build(std::move(document));
  CHECK(view);
  view_ = *view;
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    auto& held = held_[view_->owner(keys_[key])];
    held.resize(keys_.size());
    held[key] = true;
  }
}

void Cluster::apply(Result<ring::Document> next) { adopt(next); }

void Cluster::move(const ring::MoveRequest& request) {
  adopt(ring::begin_move(document(), request));
  const MoveId id = document().moves.back().id;
  const ring::RangeSet ranges = document().moves.back().ranges;
  auto& from = held_[request.source];
  auto& to = held_[request.destination];
  from.resize(keys_.size());
  to.resize(keys_.size());
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    if (!from[key] || !ring::contains(ranges, keys_[key])) continue;
    to[key] = true;
    ++keys_moved_;
  }
  adopt(ring::complete_move(document(), id, request.now));
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    if (ring::contains(ranges, keys_[key])) from[key] = false;
  }
  ++moves_;
}

std::uint64_t Cluster::keys_of(NodeId node) const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(keys_, [&](Token key) { return view_->owner(key) == node; }));
}

void Cluster::adopt(const Result<ring::Document>& next) {
  CHECK(next);
  const auto view = ring::RingView::build(*next);
  CHECK(view);
  view_ = *view;
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    const auto held = held_.find(view_->owner(keys_[key]));
    if (held == held_.end() || held->second.empty() || !held->second[key]) ++reads_missed_;
  }
}

}  // namespace cleave::rehearse
