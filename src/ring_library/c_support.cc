#include "ring_library/c_support.h"

#include <cstring>

#include "ring/utf8.h"

namespace cleave::ring_library {

cleave_ring_status report(cleave_ring_status status, std::string_view message,
                          cleave_ring_error* error) noexcept {
  if (error == nullptr) return status;
  const std::string_view shown = ring::utf8_prefix(message, sizeof(error->message) - 1);
  error->status = status;
  std::memcpy(error->message, shown.data(), shown.size());
  error->message[shown.size()] = '\0';
  return status;
}

std::string_view text_of(cleave_ring_status status) noexcept {
  switch (status) {
    case CLEAVE_RING_OK: return "no error";
    case CLEAVE_RING_INVALID: return "invalid input";
    case CLEAVE_RING_NOT_FOUND: return "not found";
    case CLEAVE_RING_LIMIT: return "above a limit";
    case CLEAVE_RING_BUFFER_TOO_SMALL: return "the buffer is too small";
    case CLEAVE_RING_NO_MEMORY: return "out of memory";
    case CLEAVE_RING_INTERNAL: return "a fault of the library";
  }
  return "unknown status";
}

cleave_ring_status report_exception(cleave_ring_error* error) noexcept {
  try {
    throw;
  } catch (const RingError& failure) {
    return report(static_cast<cleave_ring_status>(failure.code()), failure.what(), error);
  } catch (const std::bad_alloc&) {
    return report(CLEAVE_RING_NO_MEMORY, text_of(CLEAVE_RING_NO_MEMORY), error);
  } catch (const std::exception& failure) {
    return report(CLEAVE_RING_INTERNAL, failure.what(), error);
  } catch (...) {
    return report(CLEAVE_RING_INTERNAL, text_of(CLEAVE_RING_INTERNAL), error);
  }
}

}  // namespace cleave::ring_library
