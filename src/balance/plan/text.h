// How the balancer writes numbers for people. For the files of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::balance {

// 1'530'000 -> "1.53x".
std::string times(std::uint32_t ppm);

// "12.3 %"; "0.0 %" of nothing.
std::string percent(std::uint64_t part, std::uint64_t whole);

// 120'000'000 -> "120 ms/s": of server time.
std::string load_text(std::uint64_t load);

// "1 range", "2 ranges".
std::string counted(std::uint64_t count, std::string_view what);

// A key between quotes, as base/shown.h shows it.
std::string quoted(std::string_view key);

// 1'234'567 -> "1.2 MB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace cleave::balance
