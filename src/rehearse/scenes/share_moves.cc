#include "rehearse/scenes/share_moves.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "ring/document/shares.h"
#include "ring/view/view.h"
#include "ring/width.h"

namespace cleave::rehearse {
namespace {

// Tokens of the source that have one owner in the base.
struct Piece {
  ring::TokenRange range;
  int preference;  // less is better
};

std::vector<ring::Arc> arcs_of(const ring::RingView& view) {
  std::vector<ring::Arc> arcs;
  for (const ring::Entry& entry : view.entries()) arcs.push_back({entry.range, entry.node});
  return arcs;
}

// What the base promises to a third node stays for that one as long as there is anything else.
int preference(NodeId base, const ring::MoveRequest& ends) {
  if (base == ends.destination) return 0;
  return base == ends.source ? 1 : 2;
}

std::vector<Piece> pieces_of(const ring::RingView& view, const ring::MoveRequest& ends) {
  std::vector<Piece> pieces;
  const std::vector<ring::Arc> base = view.base_in({ring::kFirstToken, ring::kLastToken});
  for (const ring::TokenRange& owned : view.owned_by(ends.source)) {
    for (const ring::Arc& arc : base) {
      if (!arc.range.overlaps(owned)) continue;
      pieces.push_back(
          {{std::max(arc.range.first, owned.first), std::min(arc.range.last, owned.last)},
           preference(arc.node, ends)});
    }
  }
  std::ranges::sort(pieces, [](const Piece& left, const Piece& right) {
    if (left.preference != right.preference) return left.preference < right.preference;
    const Wide l = ring::width(left.range);
    const Wide r = ring::width(right.range);
    return l != r ? l > r : left.range < right.range;  // large ones first: fewer cuts
  });
  return pieces;
}

}  // namespace

std::optional<ring::MoveRequest> next_share_move(const ring::Document& document, UnixMillis now) {
  const auto view = ring::RingView::build(document);
  CHECK(view);
  const std::vector<ring::Share> shares = ring::shares_of(document.nodes, arcs_of(**view));
  const auto even = [](const ring::Share& share) { return share.even(kSharePerMille); };
  if (std::ranges::all_of(shares, even)) return std::nullopt;
  const ring::Share& giver = *std::ranges::max_element(shares, {}, &ring::Share::excess);
  const ring::Share& taker = *std::ranges::max_element(shares, {}, &ring::Share::deficit);
  ring::MoveRequest request{.ranges = {},
                            .source = giver.node,
                            .destination = taker.node,
                            .reason = "ownership by weight",
                            .now = now};
  Wide wanted = std::min(giver.excess(), taker.deficit());
  for (Piece& piece : pieces_of(**view, request)) {
    if (wanted == 0) break;
    if (ring::width(piece.range) > wanted) {
      piece.range.last = Token{piece.range.first.value() + static_cast<std::uint64_t>(wanted - 1)};
    }
    wanted -= ring::width(piece.range);
    request.ranges.push_back(piece.range);
  }
  return request;
}

}  // namespace cleave::rehearse
