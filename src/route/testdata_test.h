// Tables for the tests of this folder: as a real server told them, and as an older one would.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "route/command_table.h"
#include "wire/reply.h"

namespace cleave::route {

// The COMMAND reply of redis-server 7.0.15 (testdata/command_redis_7.0.15.resp, recorded by
// testdata/record.py).
wire::Reply recorded_reply();

// The same as Redis 6.2 would tell it: six fields and the ACL categories, no key specifications,
// no subcommands.
wire::Reply old_reply();

// Commands that the router of these tests answers itself; the numbers are their places.
inline constexpr std::array kOwnNames{"auth", "client", "command", "echo",   "hello", "info",
                                      "ping", "quit",   "reset",   "select", "time"};

CommandTable table_of(const wire::Reply& reply);

std::vector<std::string_view> words(std::string_view line);  // cut at single blanks

}  // namespace cleave::route
