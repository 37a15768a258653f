// The C interface of cleave/ring_builder.hpp.
#include <cleave/cleave_ring.h>

#include <cleave/ring_builder.hpp>

#include "ring_library/c_support.h"

struct cleave_ring_builder {
  cleave::RingBuilder value;
};

namespace {

using cleave::RingBuilder;
using cleave::ring_library::guarded;
using cleave::ring_library::hand_out;
using cleave::ring_library::node_of;
using cleave::ring_library::want;

}  // namespace

cleave_ring_status cleave_ring_builder_create(const cleave_ring* ring, cleave_ring_builder** made,
                                              cleave_ring_error* error) {
  return hand_out(made, error, [&] {
    want(ring != nullptr, "ring is NULL");
    return RingBuilder(ring->value);
  });
}

void cleave_ring_builder_free(cleave_ring_builder* builder) { delete builder; }

cleave_ring_status cleave_ring_builder_ring(const cleave_ring_builder* builder, cleave_ring** ring,
                                            cleave_ring_error* error) {
  return hand_out(ring, error, [&] {
    want(builder != nullptr, "builder is NULL");
    return builder->value.ring();
  });
}

cleave_ring_status cleave_ring_builder_add(cleave_ring_builder* builder,
                                           const cleave_ring_node* node, cleave_ring_error* error) {
  return guarded(error, [&] {
    want(builder != nullptr && node != nullptr, "NULL");
    builder->value.add(node_of(*node));
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_builder_remove(cleave_ring_builder* builder, const char* name,
                                              cleave_ring_error* error) {
  return guarded(error, [&] {
    want(builder != nullptr && name != nullptr, "NULL");
    builder->value.remove(name);
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_builder_set_weight(cleave_ring_builder* builder, const char* name,
                                                  uint32_t weight, cleave_ring_error* error) {
  return guarded(error, [&] {
    want(builder != nullptr && name != nullptr, "NULL");
    builder->value.set_weight(name, weight);
    return CLEAVE_RING_OK;
  });
}
