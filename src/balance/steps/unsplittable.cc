#include "balance/steps/unsplittable.h"

#include <algorithm>
#include <cstddef>

#include "balance/plan/text.h"
#include "base/check.h"

namespace cleave::balance {
namespace {

constexpr std::size_t kNamesMax = 3;

bool plain(const std::string& key) {
  return !key.empty() && std::ranges::all_of(key, [](char each) {
    return each > ' ' && each < 0x7F && each != '\'' && each != '\\' && each != '"';
  });
}

// "a", "a and b", "a, b, c and 4 more".
std::string names_of(const std::vector<HeavyToken>& tokens) {
  const std::size_t shown = std::min(tokens.size(), kNamesMax);
  std::string text;
  for (std::size_t at = 0; at < shown; ++at) {
    const bool ends = at + 1 == shown && shown == tokens.size();
    if (at > 0) text += ends ? " and " : ", ";
    text += name_of(tokens[at]);
  }
  if (shown < tokens.size()) text += " and " + std::to_string(tokens.size() - shown) + " more";
  return text;
}

}  // namespace

std::vector<HeavyToken> heavy_on(const std::vector<HeavyToken>& heavy, NodeId node) {
  std::vector<HeavyToken> own;
  for (const HeavyToken& each : heavy) {
    if (each.node == node) own.push_back(each);
  }
  return own;
}

std::string name_of(const HeavyToken& token) {
  if (token.key.empty()) return "token " + ring::to_hex(token.token);
  return plain(token.key) ? token.key : quoted(token.key);
}

Verdict unsplittable(const BoardNode& node, std::uint64_t load, std::uint64_t enough,
                     const std::vector<HeavyToken>& tokens) {
  CHECK(!tokens.empty());
  std::vector<HeavyToken> named;
  std::uint64_t together = 0;
  for (const HeavyToken& each : tokens) {
    if (!named.empty() && load <= enough + together) break;
    named.push_back(each);
    together += std::min(each.load, load - together);
  }
  Verdict verdict{.why = Why::kUnsplittable, .node = node.id};
  verdict.token = named.front().token;
  verdict.key = named.front().key;
  const std::string share = percent(together, load) + " of the load of node '" + node.name + "' (" +
                            times(level_ppm(load, node.fair)) + " of its fair load)";
  verdict.text = names_of(named) +
                 (named.size() == 1 ? " is " + share + ": no cut can divide a key"
                                    : " are " + share + ", and nobody has room for one of them") +
                 "; cache " + (named.size() == 1 ? "it, read it" : "them, read them") +
                 " from replicas, or spread " +
                 (named.size() == 1 ? "it over several keys" : "each over several keys");
  return verdict;
}

Verdict below_bound(const BoardNode& node, std::uint32_t level_ppm, std::uint32_t bound_ppm,
                    const std::vector<HeavyToken>& heavy, const Board& board) {
  Verdict verdict{.why = Why::kBound, .node = node.id};
  verdict.text = "node '" + node.name + "' is at " + times(level_ppm) +
                 ", but no placement brings the hottest node below " + times(bound_ppm);
  if (!heavy.empty()) {
    verdict.text += ", because of " + name_of(heavy.front()) + " on '" +
                    board.node(heavy.front().node).name + "'";
  }
  verdict.text += "; what is below that is left alone";
  return verdict;
}

}  // namespace cleave::balance
