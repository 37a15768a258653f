// What the router knows of commands by itself, beside the servers' table: which it spreads or
// refuses, and where old servers (before key specifications) hide their keys.
//
// Threads: pure functions over constants.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "route/command_table.h"
#include "route/handling.h"

namespace cleave::route {

// By lower-case name without a subcommand. nullopt: nothing special; its keys decide.
std::optional<Handling> known_handling(std::string_view name);

// Key specifications of commands that Redis 6.2 only calls "movablekeys". Empty: not known.
std::vector<KeySpec> known_keys(std::string_view name);

// Reasons for refusing that follow from a command's flags rather than its name.
inline constexpr std::string_view kOperatorsOnly =
    "it is for the operator of one server; connect to that server itself";
inline constexpr std::string_view kNoMessages = "messages do not pass through the router";
inline constexpr std::string_view kNoBlocking =
    "while it waits it would stop every client that shares the connection";
inline constexpr std::string_view kNoKey = "it names no key, so no server can be chosen for it";
inline constexpr std::string_view kHiddenKeys = "its keys cannot be known from its arguments";

}  // namespace cleave::route
