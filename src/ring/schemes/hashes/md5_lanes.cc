#include "ring/schemes/hashes/md5_lanes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.h"

// gcc tells that functions which take such vectors are called otherwise where there is AVX: none of
// these leaves this file.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace cleave::ring {
namespace {

// One word of every text. Arithmetic is by lane; the compiler takes as many registers as it needs.
using Lanes = std::uint32_t __attribute__((vector_size(4 * kMd5Lanes)));

constexpr std::size_t kBlockWords = 16;
constexpr std::size_t kLengthWord = 14;  // of the last block; the upper half of the length is 0
constexpr std::size_t kTextBytesMax = 4 * kLengthWord - 1;  // one block, with the byte that ends it

// Below this many texts the lanes cost more than OpenSSL one by one.
constexpr std::ptrdiff_t kFewTexts = 4;

// The one block of each text.
using Block = std::array<Lanes, kBlockWords>;

struct State {
  Lanes a;
  Lanes b;
  Lanes c;
  Lanes d;
};

constexpr std::array<std::uint32_t, 4> kStart = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};

// floor(2^32 x |sin(i + 1)|)
constexpr std::array<std::uint32_t, 64> kSines = {
    0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE, 0xF57C0FAF, 0x4787C62A, 0xA8304613, 0xFD469501,
    0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE, 0x6B901122, 0xFD987193, 0xA679438E, 0x49B40821,
    0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA, 0xD62F105D, 0x02441453, 0xD8A1E681, 0xE7D3FBC8,
    0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED, 0xA9E3E905, 0xFCEFA3F8, 0x676F02D9, 0x8D2A4C8A,
    0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60, 0xBEBFBC70,
    0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05, 0xD9D4D039, 0xE6DB99E5, 0x1FA27CF8, 0xC4AC5665,
    0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D, 0x85845DD1,
    0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1, 0xF7537E82, 0xBD3AF235, 0x2AD7D2BB, 0xEB86D391};

// What differs between the four rounds: the function of three words, which word of the block step i
// takes (word_factor x i + word_shift), and how far the steps turn.
struct RoundOne {
  static Lanes mixed(const Lanes& x, const Lanes& y, const Lanes& z) { return z ^ (x & (y ^ z)); }
  static constexpr std::size_t kNumber = 0, kWordFactor = 1, kWordShift = 0;
  static constexpr std::array<int, 4> kTurns = {7, 12, 17, 22};
};
struct RoundTwo {
  static Lanes mixed(const Lanes& x, const Lanes& y, const Lanes& z) { return y ^ (z & (x ^ y)); }
  static constexpr std::size_t kNumber = 1, kWordFactor = 5, kWordShift = 1;
  static constexpr std::array<int, 4> kTurns = {5, 9, 14, 20};
};
struct RoundThree {
  static Lanes mixed(const Lanes& x, const Lanes& y, const Lanes& z) { return x ^ y ^ z; }
  static constexpr std::size_t kNumber = 2, kWordFactor = 3, kWordShift = 5;
  static constexpr std::array<int, 4> kTurns = {4, 11, 16, 23};
};
struct RoundFour {
  static Lanes mixed(const Lanes& x, const Lanes& y, const Lanes& z) { return y ^ (x | ~z); }
  static constexpr std::size_t kNumber = 3, kWordFactor = 7, kWordShift = 0;
  static constexpr std::array<int, 4> kTurns = {6, 10, 15, 21};
};

template <class Round>
void step(Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d, const Block& block,
          std::size_t i) {
  const Lanes& word = block[(Round::kWordFactor * i + Round::kWordShift) % kBlockWords];
  const Lanes sum = a + Round::mixed(b, c, d) + word + kSines[kBlockWords * Round::kNumber + i];
  const int turn = Round::kTurns[i % 4];
  a = (sum << turn | sum >> (32 - turn)) + b;
}

template <class Round>
void run(State& state, const Block& block) {
  auto& [a, b, c, d] = state;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kBlockWords; i += 4) {
    step<Round>(a, b, c, d, block, i);
    step<Round>(d, a, b, c, block, i + 1);
    step<Round>(c, d, a, b, block, i + 2);
    step<Round>(b, c, d, a, block, i + 3);
  }
}

void set_text(Block& block, std::size_t lane, std::string_view text) {
  static_assert(std::endian::native == std::endian::little, "MD5 reads its words little endian");
  const std::size_t whole = text.size() / 4;
  const auto word_at = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t word = 0;
    std::memcpy(&word, text.data() + 4 * at, bytes);
    return word;
  };
  for (std::size_t i = 0; i < whole; ++i) block[i][lane] = word_at(i, 4);
  const std::size_t rest = text.size() % 4;
  const std::uint32_t end = std::uint32_t{0x80} << (8 * rest);
  block[whole][lane] = rest == 0 ? end : word_at(whole, rest) | end;
  block[kLengthWord][lane] = static_cast<std::uint32_t>(8 * text.size());
}

bool is_short(std::string_view text) { return text.size() <= kTextBytesMax; }

// What it gives for texts that are not short means nothing. Requires: at most kMd5Lanes texts.
void hash_lanes(std::span<const std::string_view> texts, std::span<Md5> digests) {
  CHECK(texts.size() <= kMd5Lanes && digests.size() == texts.size());
  Block block{};
  for (std::size_t lane = 0; lane < texts.size(); ++lane) {
    if (is_short(texts[lane])) set_text(block, lane, texts[lane]);
  }
  State state{Lanes{} + kStart[0], Lanes{} + kStart[1], Lanes{} + kStart[2], Lanes{} + kStart[3]};
  run<RoundOne>(state, block);
  run<RoundTwo>(state, block);
  run<RoundThree>(state, block);
  run<RoundFour>(state, block);
  state.a += kStart[0];
  state.b += kStart[1];
  state.c += kStart[2];
  state.d += kStart[3];
  for (std::size_t lane = 0; lane < texts.size(); ++lane) {
    const std::array<std::uint32_t, 4> words = {state.a[lane], state.b[lane], state.c[lane],
                                                state.d[lane]};
    digests[lane] = std::bit_cast<Md5>(words);
  }
}

// Requires: at most kMd5Lanes texts.
void hash_some(std::span<const std::string_view> texts, std::span<Md5> digests) {
  const bool in_lanes = std::ranges::count_if(texts, is_short) >= kFewTexts;
  if (in_lanes) hash_lanes(texts, digests);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!in_lanes || !is_short(texts[i])) digests[i] = md5(texts[i]);
  }
}

}  // namespace

void md5_many(std::span<const std::string_view> texts, std::span<Md5> digests) {
  CHECK(texts.size() == digests.size());
  for (std::size_t at = 0; at < texts.size(); at += kMd5Lanes) {
    const std::size_t count = std::min(kMd5Lanes, texts.size() - at);
    hash_some(texts.subspan(at, count), digests.subspan(at, count));
  }
}

}  // namespace cleave::ring
