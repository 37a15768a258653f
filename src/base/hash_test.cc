#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace cleave {
namespace {

struct Vector {
  std::size_t length;
  std::uint64_t hash;
};

// The text "0123456789" over and over, cut at a length from each branch of the algorithm (0, 1-3,
// 4-8, 9-16, 17-128, 129-240, longer, longer than one block). Values of the xxHash reference.
constexpr Vector kVectors[] = {
    {0, 0x2d06800538d394c2U},
};

TEST(Xxh3, IsFrozen) {
  std::string text;
  while (text.size() < 4'096) text += "0123456789";
  for (const Vector& vector : kVectors) {
    EXPECT_EQ(xxh3_64(std::string_view(text).substr(0, vector.length)), vector.hash)
        << vector.length;
  }
}

}  // namespace
}  // namespace cleave
