// For the tests of this folder: one pool out of a text, or the reasons against it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "convert/read/import.h"
#include "ring/schemes/placement.h"

namespace cleave::convert {

// The only pool of the text.
inline Pool pool_of(Peer from, std::string_view text) {
  const auto imported = import_pools(text, {.file = "f", .from = from, .pool = {}});
  if (!imported) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  EXPECT_EQ(imported->pools.size(), 1U);
  return imported->pools.front();
}

// That `back`, which was read of what was written of `pool`, has the same servers and finds every
// key where it was. Names are not compared: some peers have no word for them.
inline void expect_same_places(const Pool& back, const Pool& pool) {
  EXPECT_EQ(back.scheme.name, pool.scheme.name);
  ASSERT_EQ(back.nodes.size(), pool.nodes.size());
  for (std::size_t i = 0; i < pool.nodes.size(); ++i) {
    EXPECT_EQ(back.nodes[i].members, pool.nodes[i].members);
    EXPECT_EQ(back.nodes[i].weight, pool.nodes[i].weight);
  }
  const auto before = ring::place(pool.scheme, placed_nodes(pool));
  const auto after = ring::place(back.scheme, placed_nodes(back));
  ASSERT_TRUE(before && after);
  EXPECT_TRUE(std::ranges::equal((*before)->arcs(), (*after)->arcs()));
  for (const std::string_view key : {"", "a", "{b}c", "$d$e", "key:1"})
    EXPECT_EQ((*before)->token_of(key), (*after)->token_of(key)) << key;
}

inline std::string refusal_of(Peer from, std::string_view text) {
  const auto imported = import_pools(text, {.file = "f", .from = from, .pool = {}});
  return imported ? "accepted" : imported.error().message;
}

inline std::string remarks_of(const Pool& pool) {
  std::string all;
  for (const Remark& remark : pool.remarks)
    all += std::to_string(remark.line) + ": " + remark.text + "\n";
  return all;
}

// `text` with `from`, which must be in it, replaced.
inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const std::size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? changed : changed.replace(at, from.size(), to);
}

// One case of a table of refusals: what is replaced, and what the reason must say.
struct Refusal {
  std::string_view from;
  std::string_view to;
  std::string_view says;
};

inline void expect_refusals(Peer peer, std::string_view good, const std::vector<Refusal>& cases) {
  for (const Refusal& one : cases) {
    SCOPED_TRACE(one.to);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, std::string(one.says),
                        refusal_of(peer, with(good, one.from, one.to)));
  }
}

}  // namespace cleave::convert
