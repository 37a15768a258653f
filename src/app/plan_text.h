// A plan of the balancer for people, as the router's JSON has it.
//
// Pure, but for `print_plan`. Threads: any.
#pragma once

#include <string>

#include "app/admin_client.h"

namespace cleave::app {

// "passed over: n3 (it lacks memory), n4 (it has no room)"; "" of none.
std::string passed_over(const Json& alternatives);

// Moves, merges, what is not helped and why, and advice; a line each, on standard output.
void print_plan(const Json& plan);

// Millionths as "1.53".
std::string ratio(const Json& plan, const char* field);

}  // namespace cleave::app
