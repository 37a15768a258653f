#include "base/hash.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

// Values of the xxHash 0.8 reference (xxhsum -H3).
TEST(Xxh3, IsFrozen) {
  EXPECT_EQ(xxh3_64(""), 0x2d06800538d394c2U);
}

}  // namespace
}  // namespace cleave
