#include "ring_library/ring_error.h"

namespace cleave {

RingError::RingError(Code code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

// Here, so that there is one type information, the library's, whoever catches.
RingError::~RingError() = default;

namespace ring_library {
namespace {

RingError::Code code_of(Code code) {
  switch (code) {
    case Code::kNotFound: return RingError::Code::kNotFound;
    case Code::kExhausted: return RingError::Code::kLimit;
    case Code::kInvalid:
    case Code::kConflict:
    case Code::kTimeout:
    case Code::kUnavailable: return RingError::Code::kInvalid;
  }
  return RingError::Code::kInvalid;
}

}  // namespace

void raise(const Error& error) { raise(code_of(error.code), error.message); }

void raise(RingError::Code code, const std::string& message) { throw RingError(code, message); }

}  // namespace ring_library
}  // namespace cleave
