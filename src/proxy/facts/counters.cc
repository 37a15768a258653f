#include "proxy/facts/counters.h"

#include <algorithm>

namespace cleave::proxy {

std::string_view to_string(ShedCause cause) {
  switch (cause) {
    case ShedCause::kStalled: return "stalled";
    case ShedCause::kUnread: return "unread";
    case ShedCause::kProtocol: return "protocol";
    case ShedCause::kHttp: return "http";
  }
  return "";
}

namespace {

constexpr std::array<std::string_view, kErrorCauses> kCauseNames = {
    "oom",        "readonly",   "loading", "misconf", "noauth", "busy",
    "noreplicas", "masterdown", "timeout", "closed",  "other"};

// The first word of an error reply (Redis' and Valkey's error codes).
struct CauseWord {
  std::string_view word;
  ErrorCause cause;
};
constexpr std::array kCauseWords = {CauseWord{"OOM", ErrorCause::kOom},
                                    CauseWord{"READONLY", ErrorCause::kReadonly},
                                    CauseWord{"LOADING", ErrorCause::kLoading},
                                    CauseWord{"MISCONF", ErrorCause::kMisconf},
                                    CauseWord{"NOAUTH", ErrorCause::kNoauth},
                                    CauseWord{"WRONGPASS", ErrorCause::kNoauth},
                                    CauseWord{"NOPERM", ErrorCause::kNoauth},
                                    CauseWord{"BUSY", ErrorCause::kBusy},
                                    CauseWord{"NOREPLICAS", ErrorCause::kNoreplicas},
                                    CauseWord{"MASTERDOWN", ErrorCause::kMasterdown},
                                    CauseWord{"CLUSTERDOWN", ErrorCause::kMasterdown}};

}  // namespace

std::string_view to_string(ErrorCause cause) {
  return kCauseNames[static_cast<std::size_t>(cause)];
}

ErrorCause cause_of(std::string_view error) {
  const std::string_view word = error.substr(0, error.find_first_of(" \r"));
  const auto known = std::ranges::find(kCauseWords, word, &CauseWord::word);
  return known == kCauseWords.end() ? ErrorCause::kOther : known->cause;
}

NodeTraffic& NodeTraffic::operator+=(const NodeTraffic& other) {
  for (std::size_t i = 0; i < kErrorCauses; ++i) errors[i] += other.errors[i];
  sent += other.sent;
  replies += other.replies;
  queued += other.queued;
  served += other.served;
  return *this;
}

}  // namespace cleave::proxy
