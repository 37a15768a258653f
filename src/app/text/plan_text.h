// A plan of the balancer, and decisions, for people, as the router's JSON has them.
//
// Pure, but for what prints. Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "app/admin_client.h"

namespace cleave::app {

// "passed over: n3 (it lacks memory), n4 (it has no room)"; "" of none.
std::string passed_over(const Json& alternatives);

// "a -> b, about 1,200 keys, 1.2MB: hot".
std::string planned_text(const Json& move);

// "a: no node has room (until ...)"; an unsplittable one begins with its key.
std::string verdict_text(const Json& verdict);

// Moves, merges, what is not helped and why, and advice, on standard output.
void print_plan(const Json& plan);

enum class Sentences : std::uint8_t { kNo, kYes };

// A table: when, what, from, to, ranges, keys, load before and after. With sentences each decision
// also has its reason, what was expected and what came of it.
std::string decisions_text(const Json& decisions, Sentences sentences);

// That a move was begun, and of what it was warned, on standard output.
void print_begun(const Json& answer);

// Millionths as "1.53".
std::string ratio(const Json& plan, const char* field);

}  // namespace cleave::app
