// For the tests of this folder: one pool out of a text, or the reasons against it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "convert/import.h"

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
