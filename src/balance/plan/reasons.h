// Reasons: why the planner leaves something as it is. One table, balance/plan/reasons.def, of which
// everything is made that names a reason: plans and their explanations, the answers of the HTTP
// interface, the metric `cleave_verdicts`. A new reason is a row there, a row in docs/balance.md,
// and the place that decides.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cleave::balance {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): makes an enumerator of each row.
#define REASON(why, name, means, remedy) why,

// A row of the table.
enum class Why : std::uint8_t {
#include "balance/plan/reasons.def"
};
#undef REASON

// Words for people; what stands between `` is a command, a name or a constant.
struct Reason {
  Why why;
  std::string_view name;  // lower case, words joined by "-"
  std::string_view means;
  std::string_view remedy;
};

// Each once, in the order of Why.
std::span<const Reason> reasons();

const Reason& reason_of(Why why);

// Its name.
std::string_view to_string(Why why);

}  // namespace cleave::balance
