// Keys at the MD5 of a text, many of them side by side. For the files of this folder.
//
// Threads: any, when the functions given are callable from any.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "ring/schemes/circle.h"
#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/hashes/md5_lanes.h"

namespace cleave::ring {

inline Token token_of_first_word(const Md5& digest) {
  return token_of_32(little_endian_32(digest, 0));
}

inline Token token_of_upper_64(const Md5& digest) { return Token{upper_64(digest)}; }

// A function for KeyToToken. `TextOf` gives the part of a key that is hashed, as a view into it.
template <Token (*kTokenOf)(const Md5&), class TextOf = std::identity>
struct Md5Token {
  TextOf text_of = {};

  std::optional<Token> operator()(std::string_view key) const {
    return kTokenOf(md5(text_of(key)));
  }

  void operator()(std::span<const std::string_view> keys,
                  std::span<std::optional<Token>> tokens) const {
    std::array<std::string_view, kMd5Lanes> texts;
    std::array<Md5, kMd5Lanes> digests;
    for (std::size_t at = 0; at < keys.size(); at += kMd5Lanes) {
      const std::size_t count = std::min(kMd5Lanes, keys.size() - at);
      std::ranges::transform(keys.subspan(at, count), texts.begin(), text_of);
      md5_many(std::span(texts).first(count), std::span(digests).first(count));
      std::ranges::transform(std::span(digests).first(count), tokens.subspan(at).begin(), kTokenOf);
    }
  }
};

}  // namespace cleave::ring
