// The load generator's report as the JSON that `cleave bench` and the demonstrations print.
#pragma once

#include <cstdint>
#include <string>

#include "app/admin_client.h"
#include "loadgen/report.h"

namespace cleave::app {

// Fields of the contract: ops ops_per_s p50_ms p99_ms writes_acked writes_lost reads_wrong; more
// besides.
Json to_json(const loadgen::Report& report);

// Microseconds as milliseconds with three digits.
double to_ms(std::uint64_t microseconds);

// The same for people. Without verification nothing is said of writes and reads: 0 would be a lie.
enum class Verified : std::uint8_t { kNo, kYes };
std::string to_text(const loadgen::Report& report, Verified verified);

}  // namespace cleave::app
