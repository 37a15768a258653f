// What the fuzz targets share: cutting an input into pieces that the input itself chooses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::fuzz {

// A broken promise ends the run; the sanitizer prints where.
inline void require(bool promise) {
  if (!promise) std::abort();
}

// The first four bytes say how the rest is cut: sizes, taken in turn.
struct Input {
  std::string_view bytes;
  std::vector<std::size_t> sizes;
};

inline Input read_input(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kCuts = 4;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  Input input{.bytes = all.substr(std::min(all.size(), kCuts)), .sizes = {}};
  for (const char each : all.substr(0, kCuts)) {
    input.sizes.push_back(static_cast<unsigned char>(each) + std::size_t{1});
  }
  if (input.sizes.empty()) input.sizes.push_back(1);
  return input;
}

// Calls `feed` with all bytes so far (each time in memory of their own) and takes what it returns
// off the front, until it says that it is done (npos) or the input has ended and it takes nothing.
template <class Feed>
void feed_in_pieces(const Input& input, Feed feed) {
  std::string unread;
  std::string_view left = input.bytes;
  for (std::size_t piece = 0; !left.empty(); ++piece) {
    const std::size_t size = input.sizes[piece % input.sizes.size()];
    unread.append(left.substr(0, size));
    left.remove_prefix(std::min(size, left.size()));
    for (;;) {
      const std::string copy(unread);
      const std::size_t taken = feed(std::string_view(copy));
      if (taken == std::string_view::npos) return;
      if (taken == 0) break;
      unread.erase(0, taken);
    }
  }
}

}  // namespace cleave::fuzz
