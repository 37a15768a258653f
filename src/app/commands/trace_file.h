// Reads a trace that a person names on the command line.
#pragma once

#include <string>

#include "base/result.h"
#include "rehearse/workloads/trace.h"

namespace cleave::app {

// Of a CSV file, or of one with the output of MONITOR where `csv` is empty. "-" is standard input.
// What could not be read is said on standard error, with line numbers. Errors: kNotFound for a file
// that cannot be opened; kInvalid when no line has a key.
Result<rehearse::Trace> read_trace_file(const std::string& csv, const std::string& monitor);

}  // namespace cleave::app
