// What a node may be called, wherever it is given: in the configuration, by an order, by an import.
//
// Pure. Threads: any.
#pragma once

#include <string_view>

#include "base/ascii.h"

namespace cleave {

// Clients and proxies that give their servers no names call them by their addresses.
constexpr bool is_node_name(std::string_view text) { return is_plain_name(text, ":"); }
inline constexpr std::string_view kNodeNameRule =
    "want 1 to 64 letters, digits, '-', '_', '.' or ':'";

}  // namespace cleave
