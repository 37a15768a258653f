#include "proxy/counters.h"

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

}  // namespace cleave::proxy
