// A plan in words: one line for each decision, for `plan --dry-run`, `explain` and the log.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "balance/plan/plan.h"
#include "ring/document/document.h"

namespace cleave::balance {

// First a line with the state of the pool, then moves, merges, heavy tokens and why nothing else is
// done. Node names as in the document; `now` for the times until something may change.
std::vector<std::string> explain(const Plan& plan, const ring::Document& document, UnixMillis now);

// The first line alone: "peak is 2.31x the mean, 1.05x after this plan; no placement can be better
// than 1.00x; working (hot)".
std::string summary(const Plan& plan);

// The line of one of them.
std::string explain(const PlannedMove& move);
std::string explain(const Verdict& verdict, UnixMillis now);
std::string explain(const HeavyToken& token, const ring::Document& document);

}  // namespace cleave::balance
