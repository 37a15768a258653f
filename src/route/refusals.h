// The words of refusals: Redis's own where a real server would refuse too, else what is not
// supported and why. All without the leading '-'.
//
// Threads: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "route/command_table.h"

namespace cleave::route {

std::string unknown_command(std::span<const std::string_view> args);
std::string unknown_subcommand(std::span<const std::string_view> args);
std::string wrong_arity(const CommandSpec& spec);
std::string not_supported(const CommandSpec& spec, std::string_view reason);

// Why nobody may ask for that key; empty: one may.
std::string key_refusal(std::string_view key, const Limits& limits);

// Why a command is refused for what its arguments say beside its keys; empty: it is not.
std::string special_refusal(const CommandSpec& spec, std::span<const std::string_view> args);

}  // namespace cleave::route
