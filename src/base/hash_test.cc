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
    {0, 0x2d06800538d394c2U},    {1, 0x1982e3a7bb241055U},    {3, 0x8ed2b2f360965d90U},
    {4, 0x8aa92da18edb594bU},    {8, 0x1808e40d6723f646U},    {9, 0x3b5293ce9b5bd7d7U},
    {16, 0x84abdf53e8a03697U},   {17, 0x33c12b721fdb9f24U},   {32, 0x02d69c9048aecff4U},
    {33, 0x4e24f7574f8770c4U},   {64, 0x9d748132bb6ed89eU},   {96, 0xd33f092c3cc7d321U},
    {128, 0x2f83c9540ee32c9cU},  {129, 0x629d0d760a7ca820U},  {240, 0x73697f089085eabdU},
    {241, 0x367d0ce95644ade5U},  {1024, 0xf7158a3b78202e84U}, {1025, 0x5133c7904c99fe38U},
    {4096, 0xa22d3b21f37819f6U},
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
