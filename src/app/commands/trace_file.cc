#include "app/commands/trace_file.h"

#include <fstream>
#include <iostream>

#include "app/files.h"
#include "app/text/table.h"

namespace cleave::app {
namespace {

void print_trace_faults(const std::string& name, const rehearse::Trace& trace) {
  for (const rehearse::TraceFault& each : trace.faults) {
    std::cerr << name << ":" << each.line << ": " << each.why << "\n";
  }
  if (trace.bad > trace.faults.size())
    std::cerr << name << ": " << grouped(trace.bad) << " lines in all could not be read\n";
  if (trace.full) std::cerr << name << ": is longer than a trace may be; the rest is left out\n";
}

}  // namespace

Result<rehearse::Trace> read_trace_file(const std::string& csv, const std::string& monitor) {
  const std::string& path = csv.empty() ? monitor : csv;
  const auto format = csv.empty() ? rehearse::TraceFormat::kMonitor : rehearse::TraceFormat::kCsv;
  rehearse::Trace trace;
  if (path == "-") {
    trace = rehearse::read_trace(std::cin, format);
  } else {
    Result<std::ifstream> file = open_file(path);
    if (!file) return std::unexpected(file.error());
    trace = rehearse::read_trace(*file, format);
  }
  print_trace_faults(path, trace);
  if (trace.requests.empty())
    return fail(Code::kInvalid, "'" + path + "': none of its " + grouped(trace.lines) +
                                    " lines is a request with a key");
  return trace;
}

}  // namespace cleave::app
