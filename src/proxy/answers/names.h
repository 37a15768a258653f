// What CLIENT SETNAME and HELLO SETNAME take.
//
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <string_view>

namespace cleave::proxy {

inline constexpr std::string_view kBadClientName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

inline bool is_clean_client_name(std::string_view name) {
  return std::ranges::all_of(name, [](char letter) { return letter >= '!' && letter <= '~'; });
}

}  // namespace cleave::proxy
