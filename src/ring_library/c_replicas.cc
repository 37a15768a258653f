// The C interface of cleave/ring_replicas.hpp.
#include <cleave/cleave_ring.h>

#include <cleave/ring_replicas.hpp>

#include "ring_library/c_support.h"

struct cleave_ring_replicas {
  cleave::RingReplicas value;
};

namespace {

using cleave::RingReplicas;
using cleave::ring_library::check;
using cleave::ring_library::give;
using cleave::ring_library::guarded;
using cleave::ring_library::hand_out;
using cleave::ring_library::key_of;
using cleave::ring_library::text_or_empty;
using cleave::ring_library::want;

constexpr std::size_t kDatacentersMax = 100'000;  // as many as nodes

}  // namespace

cleave_ring_status cleave_ring_replicas_simple(const cleave_ring* ring, uint32_t replicas,
                                               cleave_ring_replicas** made,
                                               cleave_ring_error* error) {
  return hand_out(made, error, [&] {
    want(ring != nullptr, "ring is NULL");
    return RingReplicas::simple(ring->value, replicas);
  });
}

cleave_ring_status cleave_ring_replicas_over_racks(const cleave_ring* ring,
                                                   const cleave_ring_datacenter* datacenters,
                                                   size_t datacenter_count,
                                                   cleave_ring_replicas** made,
                                                   cleave_ring_error* error) {
  return hand_out(made, error, [&] {
    want(ring != nullptr, "ring is NULL");
    want(datacenters != nullptr || datacenter_count == 0, "datacenters is NULL");
    check(datacenter_count <= kDatacentersMax, cleave::RingError::Code::kLimit,
          "too many datacenters");
    std::map<std::string, std::uint32_t> wanted;
    for (std::size_t i = 0; i < datacenter_count; ++i) {
      const bool first =
          wanted.emplace(text_or_empty(datacenters[i].name), datacenters[i].replicas).second;
      want(first, "a datacenter is given twice");
    }
    return RingReplicas::over_racks(ring->value, wanted);
  });
}

void cleave_ring_replicas_free(cleave_ring_replicas* replicas) { delete replicas; }

size_t cleave_ring_replicas_count(const cleave_ring_replicas* replicas) {
  return replicas == nullptr ? 0 : replicas->value.count();
}

cleave_ring_status cleave_ring_replicas_locate(const cleave_ring_replicas* replicas,
                                               const char* key, size_t key_size, size_t* nodes,
                                               size_t capacity, size_t* count) {
  return guarded(nullptr, [&] {
    want(replicas != nullptr, "replicas is NULL");
    return give(replicas->value.locate(key_of(key, key_size)), {nodes, capacity, count});
  });
}

cleave_ring_status cleave_ring_replicas_shortages(const cleave_ring_replicas* replicas,
                                                  cleave_ring_shortage* shortages, size_t capacity,
                                                  size_t* count) {
  return guarded(nullptr, [&] {
    want(replicas != nullptr, "replicas is NULL");
    std::vector<cleave_ring_shortage> list;
    for (const RingReplicas::Shortage& each : replicas->value.shortages()) {
      list.push_back({each.datacenter.c_str(), each.wanted, each.missing, each.sharing});
    }
    return give(list, {shortages, capacity, count});
  });
}
