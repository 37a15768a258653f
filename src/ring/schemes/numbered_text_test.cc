#include "ring/schemes/numbered_text.h"

#include <gtest/gtest.h>

namespace cleave::ring {
namespace {

TEST(NumberedText, CountsAsPeopleWrite) {
  // A stem that itself ends in digits is left alone.
  for (const std::string stem : {"", "name#", "node-9", "99"}) {
    NumberedText text(stem);
    for (int i = 0; i < 11'000; ++i, text.next()) {
      ASSERT_EQ(text.text(), stem + std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace cleave::ring
