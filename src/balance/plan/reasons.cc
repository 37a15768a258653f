#include "balance/plan/reasons.h"

#include <cstddef>
#include <iterator>

#include "base/check.h"

namespace cleave::balance {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): makes a line of the table of each row.
#define REASON(why, name, means, remedy) {Why::why, name, means, remedy},
constexpr Reason kReasons[] = {
#include "balance/plan/reasons.def"
};
#undef REASON

}  // namespace

std::span<const Reason> reasons() { return kReasons; }

const Reason& reason_of(Why why) {
  const auto row = static_cast<std::size_t>(why);
  CHECK(row < std::size(kReasons) && kReasons[row].why == why);
  return kReasons[row];
}

std::string_view to_string(Why why) { return reason_of(why).name; }

}  // namespace cleave::balance
