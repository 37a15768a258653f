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

std::string_view to_string(Why why) {
  switch (why) {
    case Why::kFrozen: return "frozen";
    case Why::kUpgrade: return "upgrade";
    case Why::kScheme: return "scheme";
    case Why::kNoHeat: return "no-heat";
    case Why::kTooManyDown: return "too-many-down";
    case Why::kBadInput: return "bad-input";
    case Why::kNotLongEnough: return "not-long-enough";
    case Why::kUsual: return "usual";
    case Why::kInFlight: return "in-flight";
    case Why::kVeto: return "veto";
    case Why::kRests: return "rests";
    case Why::kBudget: return "budget";
    case Why::kCuts: return "cuts";
    case Why::kDwell: return "dwell";
    case Why::kUnsplittable: return "unsplittable";
    case Why::kBound: return "bound";
    case Why::kNoTarget: return "no-target";
    case Why::kTooSmall: return "too-small";
    case Why::kScripts: return "scripts";
    case Why::kSample: return "sample";
  }
  return "unknown";
}

}  // namespace cleave::balance
