// Texts of rings that come from anywhere, through both interfaces of the library.
#include <cleave/cleave_ring.h>
#include <gtest/gtest.h>

#include <cleave/ring.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/damage_testing.h"

namespace cleave {
namespace {

// What the C interface makes of a text: the text of the ring; nullopt with an error in its place.
std::optional<std::string> read_by_c(std::string_view text) {
  cleave_ring* ring = nullptr;
  cleave_ring_error error = {};
  const cleave_ring_status status = cleave_ring_from_text(text.data(), text.size(), &ring, &error);
  EXPECT_EQ(status == CLEAVE_RING_OK, ring != nullptr);
  if (ring == nullptr) {
    EXPECT_EQ(error.status, status);
    EXPECT_STRNE(error.message, "");
    return std::nullopt;
  }
  std::size_t size = 0;
  cleave_ring_to_text(ring, nullptr, 0, &size);
  std::string written(size + 1, '?');
  EXPECT_EQ(cleave_ring_to_text(ring, written.data(), written.size(), &size), CLEAVE_RING_OK);
  cleave_ring_free(ring);
  written.pop_back();
  return written;
}

std::optional<std::string> read_by_cxx(std::string_view text) {
  try {
    return Ring::from_text(text).to_text();
  } catch (const RingError& error) {
    EXPECT_STRNE(error.what(), "");
    return std::nullopt;
  }
}

TEST(DamagedText, IsRefusedOrReadTheSameByBothInterfaces) {
  const std::string goods[] = {
      Ring("vnode", {{"a"}, {"b", 2, "r1", "d1"}}).with_cut({5, 9, "a"}).to_text(),
      Ring("twemproxy-ketama", {{"10.0.0.1:1"}, {"\xC3\xA9"}}, {{"hash", "md5"}}).to_text(),
      Ring("jump", {{"a"}, {"b"}, {"c"}}).to_text()};
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    Rng rng(seed);
    const std::string text = damaged(goods[seed % 3], goods[rng.below(3)], rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto written = read_by_c(text);
    ASSERT_EQ(written, read_by_cxx(text));
    if (!written) continue;
    ++taken;
    ASSERT_EQ(read_by_c(*written), written);
  }
  EXPECT_GT(taken, 50U);
}

}  // namespace
}  // namespace cleave
