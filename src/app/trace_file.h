// Reads a trace that a person names on the command line.
#pragma once

#include <string>

#include "base/result.h"
#include "simulate/trace.h"

namespace cleave::app {

// "-" is standard input. What could not be read is said on standard error, with line numbers.
// Errors: kNotFound for a file that cannot be opened; kInvalid when no line has a key.
Result<simulate::Trace> read_trace_file(const std::string& path, simulate::TraceFormat format);

// What could not be read of it, on standard error.
void print_trace_faults(const std::string& name, const simulate::Trace& trace);

}  // namespace cleave::app
