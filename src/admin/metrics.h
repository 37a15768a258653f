// `/metrics` in Prometheus' text format 0.0.4 ("Exposition formats", prometheus.io). Written by
// hand
// (docs/adr/0002-metrics-text.md).
//
// Pure. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "admin/render.h"

namespace cleave::admin {

// The value of a label: backslash, quote and newline escaped.
std::string escape_label(std::string_view value);

// All families; counters that the process does not know yet are left out.
std::string render_metrics(const Facts& facts);

}  // namespace cleave::admin
