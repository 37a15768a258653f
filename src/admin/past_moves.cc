#include "admin/past_moves.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cleave::admin {
namespace {

constexpr std::size_t kMovesMax = 1'000;  // of one answer

bool is_meant(const Meant& meant, MoveId id, const ring::RangeSet& ranges) {
  if (const auto* wanted = std::get_if<MoveId>(&meant)) return id == *wanted;
  return ring::difference(std::get<ring::RangeSet>(meant), ranges).empty();
}

// The texts of a decision come from a file: what cannot be read is no move.
std::string text_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::uint64_t number_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number_integer() ? found->get<std::uint64_t>() : 0;
}

// Errors: nullopt where one of them cannot be read.
std::optional<ring::RangeSet> ranges_in(const Json& decision) {
  const auto list = decision.find("ranges");
  if (list == decision.end() || !list->is_array() || list->empty()) return std::nullopt;
  ring::RangeSet ranges;
  for (const Json& each : *list) {
    if (!each.is_object()) return std::nullopt;
    const Result<Token> first = ring::parse_token(text_in(each, "first"));
    const Result<Token> last = ring::parse_token(text_in(each, "last"));
    if (!first || !last || *last < *first) return std::nullopt;
    ranges.push_back({*first, *last});
  }
  return ring::normalised(std::move(ranges));
}

// Errors: nullopt where the decision is not about the end of a move that had begun.
std::optional<CommittedMove> ended_in(const Json& decision) {
  const std::string kind = decision.is_object() ? text_in(decision, "kind") : "";
  if (kind != "moved" && kind != "aborted") return std::nullopt;
  const MoveId id{number_in(decision, "move")};
  std::optional<ring::RangeSet> ranges = ranges_in(decision);
  if (id == MoveId{} || !ranges) return std::nullopt;
  return CommittedMove{.id = id,
                       .source = text_in(decision, "source"),
                       .destination = text_in(decision, "destination"),
                       .ranges = std::move(*ranges)};
}

bool was_committed(const Json& decision) { return text_in(decision, "kind") == "moved"; }

// Ids are epochs: the greater one is the newer move.
void keep_newer(std::optional<CommittedMove>& best, CommittedMove other) {
  if (!best || best->id < other.id) best = std::move(other);
}

Result<NodeId> node_of(const ring::Document& document, const CommittedMove& move,
                       const std::string& name) {
  if (const ring::Node* node = ring::find_node(document, name)) return node->id;
  return fail(Code::kConflict, "move " + std::to_string(move.id.value()) + " was from node '" +
                                   move.source + "' to '" + move.destination + "', and node '" +
                                   name + "' is gone");
}

}  // namespace

std::optional<CommittedMove> find_committed(const control::Status& status,
                                            const PastDecisions* past, const Meant& meant) {
  std::optional<CommittedMove> best;
  if (past != nullptr) best = find_committed(past->with(Json::array()), meant);
  const ring::Document& document = status.view->document();
  for (const control::MoveRecord& record : status.ended) {
    if (record.end != control::MoveEnd::kCommitted) continue;
    if (!is_meant(meant, record.move.id, record.move.ranges)) continue;
    keep_newer(best, {.id = record.move.id,
                      .source = name_of(document, record.move.source),
                      .destination = name_of(document, record.move.destination),
                      .ranges = record.move.ranges});
  }
  return best;
}

std::optional<CommittedMove> find_committed(const Json& decisions, const Meant& meant) {
  std::optional<CommittedMove> best;
  for (const Json& decision : decisions) {
    std::optional<CommittedMove> move = ended_in(decision);
    if (!move || !was_committed(decision) || !is_meant(meant, move->id, move->ranges)) continue;
    keep_newer(best, std::move(*move));
  }
  return best;
}

Error no_committed(const Meant& meant) {
  if (const auto* id = std::get_if<MoveId>(&meant))
    return {Code::kNotFound, "no committed move " + std::to_string(id->value()) + " is known"};
  return {Code::kNotFound, "no committed move of all of these tokens is known"};
}

Result<WayBack> way_back(const CommittedMove& move, const ring::RingView& view, UnixMillis now) {
  const Result<NodeId> home = node_of(view.document(), move, move.source);
  const Result<NodeId> from = node_of(view.document(), move, move.destination);
  if (!home || !from) return std::unexpected(home ? from.error() : home.error());
  const ring::RangeSet elsewhere = ring::difference(move.ranges, view.owned_by(*from));
  ring::RangeSet there = ring::difference(move.ranges, elsewhere);
  const std::string id = std::to_string(move.id.value());
  if (there.empty()) {
    return fail(Code::kConflict, "node '" + move.destination + "' owns nothing of what move " + id +
                                     " brought there any more: there is nothing to move back");
  }
  return WayBack{.request = {.ranges = std::move(there),
                             .source = *from,
                             .destination = *home,
                             .reason = "undo of move " + id,
                             .now = now},
                 .whole = elsewhere.empty()};
}

void add_past_moves(Json& moves, const PastDecisions& past) {
  Json& ended = moves["ended"];
  std::set<std::uint64_t> known;
  for (const Json& each : ended) known.insert(number_in(each, "id"));
  for (const Json& decision : past.with(Json::array())) {
    const std::optional<CommittedMove> move = ended_in(decision);
    if (!move || !known.insert(move->id.value()).second) continue;
    const bool committed = was_committed(decision);
    const std::string reason = text_in(decision, "reason");
    ended.push_back({{"id", move->id.value()},
                     {"source", move->source},
                     {"destination", move->destination},
                     {"ranges", render_ranges(move->ranges)},
                     {"share_ppm", ring::share_ppm(move->ranges)},
                     {"reason", committed ? reason : ""},
                     {"end", committed ? "committed" : "aborted"},
                     {"why", committed ? "" : reason},
                     {"keys_copied", number_in(decision, "keys")},
                     {"bytes_copied", number_in(decision, "bytes")},
                     {"ended_ms", decision.value("at_ms", std::int64_t{0})}});
  }
  std::vector<Json> sorted(ended.begin(), ended.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const Json& each) {
    return each.value("ended_ms", std::int64_t{0});
  });
  if (sorted.size() > kMovesMax) sorted.resize(kMovesMax);
  ended = std::move(sorted);
}

}  // namespace cleave::admin
