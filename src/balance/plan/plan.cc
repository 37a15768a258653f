#include "balance/plan/plan.h"

namespace cleave::balance {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kUrgent: return "urgent";
    case Cause::kHot: return "hot";
    case Cause::kSlow: return "slow";
    case Cause::kMemory: return "memory";
    case Cause::kDrain: return "drain";
    case Cause::kJoin: return "join";
    case Cause::kFlatten: return "flatten";
    case Cause::kGather: return "gather";
    case Cause::kPresplit: return "presplit";
  }
  return "unknown";
}

}  // namespace cleave::balance
