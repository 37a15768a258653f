#include "ring/token_index.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/rng.h"

namespace cleave::ring {
namespace {

// Tokens spread over all, or crowded together, or both.
std::vector<Token> random_firsts(Rng& rng) {
  std::set<Token> firsts{Token{0}};
  const std::uint64_t crowd = rng.next();
  for (std::uint64_t count = rng.below(60); count > 0; --count) {
    firsts.insert(Token{rng.chance(1, 2) ? rng.next() : crowd + rng.below(100)});
  }
  if (rng.chance(1, 4)) firsts.insert(Token{~std::uint64_t{0}});
  return {firsts.begin(), firsts.end()};
}

std::uint32_t naive(const std::vector<Token>& firsts, Token token) {
  std::uint32_t at = 0;
  while (at + 1 < firsts.size() && firsts[at + 1] <= token) ++at;
  return at;
}

TEST(TokenIndex, FindsWhatANaiveSearchFinds) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::vector<Token> firsts = random_firsts(rng);
    const TokenIndex index(firsts);
    for (const Token first : firsts) {
      for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        const Token token{first.value() + shift};
        ASSERT_EQ(index.find(token), naive(firsts, token));
      }
      const Token any{rng.next()};
      ASSERT_EQ(index.find(any), naive(firsts, any));
    }
  }
}

}  // namespace
}  // namespace cleave::ring
