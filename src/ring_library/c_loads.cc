// The C interface of cleave/ring_loads.hpp.
#include <cleave/cleave_ring.h>

#include <cleave/ring_loads.hpp>

#include "ring_library/c_support.h"

struct cleave_ring_loads {
  cleave::RingLoads value;
};

namespace {

using cleave::RingLoads;
using cleave::ring_library::guarded;
using cleave::ring_library::hand_out;
using cleave::ring_library::key_of;
using cleave::ring_library::want;

}  // namespace

cleave_ring_status cleave_ring_loads_bounded(const cleave_ring* ring, uint32_t bound_per_mille,
                                             cleave_ring_loads** made, cleave_ring_error* error) {
  return hand_out(made, error, [&] {
    want(ring != nullptr, "ring is NULL");
    return RingLoads::bounded(ring->value, bound_per_mille);
  });
}

cleave_ring_status cleave_ring_loads_two_choices(const cleave_ring* ring, cleave_ring_loads** made,
                                                 cleave_ring_error* error) {
  return hand_out(made, error, [&] {
    want(ring != nullptr, "ring is NULL");
    return RingLoads::two_choices(ring->value);
  });
}

void cleave_ring_loads_free(cleave_ring_loads* loads) { delete loads; }

cleave_ring_status cleave_ring_loads_acquire(cleave_ring_loads* loads, const char* key,
                                             size_t key_size, size_t* node) {
  return guarded(nullptr, [&] {
    want(loads != nullptr && node != nullptr, "NULL");
    *node = loads->value.acquire(key_of(key, key_size)).value_or(CLEAVE_RING_NOWHERE);
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_loads_release(cleave_ring_loads* loads, size_t node) {
  if (loads == nullptr) return CLEAVE_RING_INVALID;
  return loads->value.release(node) ? CLEAVE_RING_OK : CLEAVE_RING_NOT_FOUND;
}

uint64_t cleave_ring_loads_load(const cleave_ring_loads* loads, size_t node) {
  return loads == nullptr ? 0 : loads->value.load(node);
}

uint64_t cleave_ring_loads_total(const cleave_ring_loads* loads) {
  return loads == nullptr ? 0 : loads->value.total();
}

cleave_ring_status cleave_ring_loads_change_ring(cleave_ring_loads* loads, const cleave_ring* ring,
                                                 cleave_ring_error* error) {
  return guarded(error, [&] {
    want(loads != nullptr && ring != nullptr, "NULL");
    loads->value.change_ring(ring->value);
    return CLEAVE_RING_OK;
  });
}
