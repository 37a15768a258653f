// What the C interface is made of: nothing is thrown across it, lists go into the caller's buffer.
// For the files of this folder.
//
// Threads: any.
#pragma once

#include <cleave/cleave_ring.h>

#include <algorithm>
#include <cleave/ring.hpp>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "ring_library/ring_error.h"

// The handle is a ring of its own, which shares what it holds.
struct cleave_ring {
  cleave::Ring value;
};

namespace cleave::ring_library {

// Throws a RingError of that code unless the condition holds.
inline void check(bool condition, RingError::Code code, std::string_view complaint) {
  if (!condition) raise(code, std::string(complaint));
}

// `check` with kInvalid: for pointers.
inline void want(bool condition, std::string_view complaint) {
  check(condition, RingError::Code::kInvalid, complaint);
}

inline std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

// Fills `error` unless it is NULL; the status, for the caller to return. The text is cut at a whole
// character.
cleave_ring_status report(cleave_ring_status status, std::string_view message,
                          cleave_ring_error* error) noexcept;

// The status of the exception that is being handled, reported.
cleave_ring_status report_exception(cleave_ring_error* error) noexcept;

// For a status that has nothing more to say.
std::string_view text_of(cleave_ring_status status) noexcept;

// `body()`, whose exceptions become statuses.
template <class Body>
cleave_ring_status guarded(cleave_ring_error* error, Body body) noexcept {
  try {
    const cleave_ring_status status = body();
    return status == CLEAVE_RING_OK ? status : report(status, text_of(status), error);
  } catch (...) {
    return report_exception(error);
  }
}

// Hands out what `make()` makes in a new Handle, a struct of one `value`; after a failure NULL.
template <class Handle, class Make>
cleave_ring_status hand_out(Handle** target, cleave_ring_error* error, Make make) noexcept {
  if (target != nullptr) *target = nullptr;
  return guarded(error, [&] {
    want(target != nullptr, "the pointer for what is made is NULL");
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): `guarded` handles it
    *target = new Handle{make()};
    return CLEAVE_RING_OK;
  });
}

// A key as it comes over the border.
inline std::string_view key_of(const char* key, std::size_t size) {
  want(key != nullptr || size == 0, "key is NULL");
  check(size <= CLEAVE_RING_KEY_BYTES_MAX, RingError::Code::kInvalid,
        "the key is longer than CLEAVE_RING_KEY_BYTES_MAX");
  return {size == 0 ? "" : key, size};
}

inline Ring::Node node_of(const cleave_ring_node& node) {
  want(node.name != nullptr, "a node's name is NULL");
  return {node.name, node.weight, text_or_empty(node.rack), text_or_empty(node.datacenter)};
}

// Where the caller wants a list.
template <class T>
struct Buffer {
  T* elements;
  std::size_t capacity;
  std::size_t* count;
};

// Hands a list out as cleave_ring.h tells.
template <class T>
cleave_ring_status give(const std::vector<T>& list, Buffer<T> buffer) {
  want(buffer.count != nullptr, "count is NULL");
  want(buffer.elements != nullptr || buffer.capacity == 0, "the buffer is NULL");
  *buffer.count = list.size();
  if (buffer.capacity < list.size()) return CLEAVE_RING_BUFFER_TOO_SMALL;
  std::copy(list.begin(), list.end(), buffer.elements);
  return CLEAVE_RING_OK;
}

}  // namespace cleave::ring_library
