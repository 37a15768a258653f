// Where a Result of the core becomes an exception: the public library's border.
//
// Threads: any.
#pragma once

#include <cleave/ring.hpp>
#include <string>
#include <utility>

#include "base/result.h"

namespace cleave::ring_library {

// Throws cleave::RingError with the text.
[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise(RingError::Code code, const std::string& message);

// The value; else `raise`s.
template <class T>
T value_or_raise(Result<T>&& result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

}  // namespace cleave::ring_library
