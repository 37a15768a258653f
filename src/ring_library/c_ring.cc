// The C interface. It decides nothing: it checks pointers and lengths, calls the C++ interface or
// the core, and turns exceptions into statuses.
#include <cleave/cleave_ring.h>

#include <algorithm>
#include <array>
#include <cleave/ring.hpp>
#include <new>
#include <span>

#include "ring_library/c_support.h"
#include "ring_library/ring_error.h"
#include "ring_library/ring_impl.h"

namespace {

using cleave::Ring;
using cleave::RingAccess;
using cleave::ring_library::check;
using cleave::ring_library::give;
using cleave::ring_library::guarded;
using cleave::ring_library::hand_out;
using cleave::ring_library::key_of;
using cleave::ring_library::node_of;
using cleave::ring_library::want;

// More than any ring has; seen before memory behind a wild count is read.
constexpr std::size_t kOptionsMax = 1'000;
constexpr std::size_t kBatchMax = std::size_t{1} << 32U;

// Of a batch, keys that are looked up together.
constexpr std::size_t kViewsMax = 256;

static_assert(CLEAVE_RING_NOWHERE == cleave::ring::kNoNode);

Ring::Options options_of(const cleave_ring_option* options, std::size_t count) {
  want(options != nullptr || count == 0, "options is NULL");
  check(count <= kOptionsMax, cleave::RingError::Code::kLimit, "too many options");
  Ring::Options read;
  for (std::size_t i = 0; i < count; ++i) {
    want(options[i].name != nullptr && options[i].value != nullptr, "an option has a NULL");
    const bool first = read.emplace(options[i].name, options[i].value).second;
    want(first, "an option is given twice");
  }
  return read;
}

std::vector<Ring::Node> nodes_of(const cleave_ring_node* nodes, std::size_t count) {
  want(nodes != nullptr || count == 0, "nodes is NULL");
  check(count <= cleave::ring::kPlacedNodesMax, cleave::RingError::Code::kLimit, "too many nodes");
  std::vector<Ring::Node> read;
  read.reserve(count);
  for (std::size_t i = 0; i < count; ++i) read.push_back(node_of(nodes[i]));
  return read;
}

// A new ring by `change(old ring)`.
template <class Change>
cleave_ring_status changed_ring(const cleave_ring* ring, cleave_ring** target,
                                cleave_ring_error* error, Change change) noexcept {
  return hand_out(target, error, [&] {
    want(ring != nullptr, "ring is NULL");
    return change(ring->value);
  });
}

// The core is asked, whose look-ups may throw: those of the C++ interface would end the process if
// memory ran out.
std::size_t owner_of(const cleave::ring::PlacedRing& ring, std::string_view key) {
  return ring.owner(key).value_or(CLEAVE_RING_NOWHERE);
}

std::vector<cleave_ring_arc> c_arcs(const std::vector<cleave::ring::Arc>& arcs) {
  std::vector<cleave_ring_arc> result;
  result.reserve(arcs.size());
  for (const auto& arc : arcs) {
    result.push_back({arc.range.first.value(), arc.range.last.value(), arc.node.value() - 1});
  }
  return result;
}

}  // namespace

int cleave_ring_abi_version(void) { return cleave::ring_abi_version(); }

cleave_ring_status cleave_ring_create(const char* scheme, const cleave_ring_option* options,
                                      size_t option_count, const cleave_ring_node* nodes,
                                      size_t node_count, cleave_ring** ring,
                                      cleave_ring_error* error) {
  return hand_out(ring, error, [&]() -> Ring {
    want(scheme != nullptr, "scheme is NULL");
    return Ring(scheme, nodes_of(nodes, node_count), options_of(options, option_count));
  });
}

cleave_ring_status cleave_ring_from_text(const char* text, size_t size, cleave_ring** ring,
                                         cleave_ring_error* error) {
  return hand_out(ring, error, [&]() -> Ring {
    want(text != nullptr, "text is NULL");
    return Ring::from_text({text, size});
  });
}

cleave_ring_status cleave_ring_copy(const cleave_ring* ring, cleave_ring** copy) {
  return changed_ring(ring, copy, nullptr, [](const Ring& from) { return from; });
}

void cleave_ring_free(cleave_ring* ring) { delete ring; }

cleave_ring_status cleave_ring_to_text(const cleave_ring* ring, char* text, size_t capacity,
                                       size_t* count) {
  return guarded(nullptr, [&] {
    want(ring != nullptr && count != nullptr, "NULL");
    want(text != nullptr || capacity == 0, "text is NULL");
    const std::string told = ring->value.to_text();
    *count = told.size();
    if (capacity <= told.size()) return CLEAVE_RING_BUFFER_TOO_SMALL;
    std::copy_n(told.c_str(), told.size() + 1, text);
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_locate(const cleave_ring* ring, const char* key, size_t key_size,
                                      size_t* node) {
  return guarded(nullptr, [&] {
    want(ring != nullptr && node != nullptr, "NULL");
    *node = owner_of(RingAccess::of(ring->value), key_of(key, key_size));
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_locate_many(const cleave_ring* ring, const char* const* keys,
                                           const size_t* key_sizes, size_t key_count,
                                           size_t* nodes) {
  return guarded(nullptr, [&] {
    want(ring != nullptr, "ring is NULL");
    if (key_count == 0) return CLEAVE_RING_OK;
    want(keys != nullptr && key_sizes != nullptr && nodes != nullptr, "NULL");
    check(key_count <= kBatchMax, cleave::RingError::Code::kLimit, "too many keys");
    const cleave::ring::PlacedRing& placed = RingAccess::of(ring->value);
    std::array<std::string_view, kViewsMax> views;
    for (std::size_t at = 0; at < key_count; at += kViewsMax) {
      const std::size_t some = std::min(kViewsMax, key_count - at);
      for (std::size_t i = 0; i < some; ++i) views[i] = key_of(keys[at + i], key_sizes[at + i]);
      placed.owners(std::span(views).first(some), {nodes + at, some});
    }
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_token_of(const cleave_ring* ring, const char* key, size_t key_size,
                                        uint64_t* token) {
  return guarded(nullptr, [&] {
    want(ring != nullptr && token != nullptr, "NULL");
    const auto found = RingAccess::of(ring->value).token_of(key_of(key, key_size));
    if (!found) return CLEAVE_RING_NOT_FOUND;
    *token = found->value();
    return CLEAVE_RING_OK;
  });
}

cleave_ring_status cleave_ring_owner(const cleave_ring* ring, uint64_t token, size_t* node) {
  if (ring == nullptr || node == nullptr) return CLEAVE_RING_INVALID;
  *node = ring->value.owner(token);
  return CLEAVE_RING_OK;
}

int cleave_ring_has_fixed_tokens(const cleave_ring* ring) {
  return ring != nullptr && ring->value.fixed_tokens() ? 1 : 0;
}

size_t cleave_ring_node_count(const cleave_ring* ring) {
  return ring == nullptr ? 0 : ring->value.nodes().size();
}

cleave_ring_status cleave_ring_node_at(const cleave_ring* ring, size_t index,
                                       cleave_ring_node* node) {
  if (ring == nullptr || node == nullptr) return CLEAVE_RING_INVALID;
  if (index >= ring->value.nodes().size()) return CLEAVE_RING_NOT_FOUND;
  const Ring::Node& found = ring->value.nodes()[index];
  *node = {found.name.c_str(), found.weight, found.rack.c_str(), found.datacenter.c_str()};
  return CLEAVE_RING_OK;
}

cleave_ring_status cleave_ring_find(const cleave_ring* ring, const char* name, size_t* node) {
  if (ring == nullptr || name == nullptr || node == nullptr) return CLEAVE_RING_INVALID;
  const auto found = ring->value.find(name);
  if (!found) return CLEAVE_RING_NOT_FOUND;
  *node = *found;
  return CLEAVE_RING_OK;
}

cleave_ring_status cleave_ring_arcs(const cleave_ring* ring, cleave_ring_arc* arcs, size_t capacity,
                                    size_t* count) {
  return guarded(nullptr, [&] {
    want(ring != nullptr, "ring is NULL");
    return give(c_arcs(RingAccess::of(ring->value).arcs()), {arcs, capacity, count});
  });
}

cleave_ring_status cleave_ring_cuts(const cleave_ring* ring, cleave_ring_arc* cuts, size_t capacity,
                                    size_t* count) {
  return guarded(nullptr, [&] {
    want(ring != nullptr, "ring is NULL");
    std::vector<cleave::ring::Arc> arcs;
    for (const auto& cut : RingAccess::of(ring->value).cuts())
      arcs.push_back({cut.range, cut.node});
    return give(c_arcs(arcs), {cuts, capacity, count});
  });
}

cleave_ring_status cleave_ring_shares(const cleave_ring* ring, double* shares, size_t capacity,
                                      size_t* count) {
  return guarded(nullptr, [&] {
    want(ring != nullptr, "ring is NULL");
    return give(ring->value.shares(), {shares, capacity, count});
  });
}

cleave_ring_status cleave_ring_with_node(const cleave_ring* ring, const cleave_ring_node* node,
                                         cleave_ring** changed, cleave_ring_error* error) {
  return changed_ring(ring, changed, error, [&](const Ring& from) {
    want(node != nullptr, "node is NULL");
    return from.with_node(node_of(*node));
  });
}

cleave_ring_status cleave_ring_without_node(const cleave_ring* ring, const char* name,
                                            cleave_ring** changed, cleave_ring_error* error) {
  return changed_ring(ring, changed, error, [&](const Ring& from) {
    want(name != nullptr, "name is NULL");
    return from.without_node(name);
  });
}

cleave_ring_status cleave_ring_with_weight(const cleave_ring* ring, const char* name,
                                           uint32_t weight, cleave_ring** changed,
                                           cleave_ring_error* error) {
  return changed_ring(ring, changed, error, [&](const Ring& from) {
    want(name != nullptr, "name is NULL");
    return from.with_weight(name, weight);
  });
}

cleave_ring_status cleave_ring_with_cut(const cleave_ring* ring, const cleave_ring_arc* cut,
                                        cleave_ring** changed, cleave_ring_error* error) {
  return changed_ring(ring, changed, error, [&](const Ring& from) {
    want(cut != nullptr, "cut is NULL");
    check(cut->node < from.nodes().size(), cleave::RingError::Code::kNotFound,
          "the cut's node is no index of a node");
    return from.with_cut({cut->first, cut->last, from.nodes()[cut->node].name});
  });
}

cleave_ring_status cleave_ring_without_cuts(const cleave_ring* ring, cleave_ring** changed,
                                            cleave_ring_error* error) {
  return changed_ring(ring, changed, error, [](const Ring& from) { return from.without_cuts(); });
}

cleave_ring_status cleave_ring_diff(const cleave_ring* before, const cleave_ring* after,
                                    cleave_ring_change* changes, size_t capacity, size_t* count,
                                    cleave_ring_error* error) {
  return guarded(error, [&] {
    want(before != nullptr && after != nullptr, "a ring is NULL");
    const auto indexes = [](const Ring& ring) {
      std::map<std::string_view, std::size_t> of_name;
      for (const Ring::Node& node : ring.nodes()) of_name.emplace(node.name, of_name.size());
      return of_name;
    };
    const auto from = indexes(before->value);
    const auto to = indexes(after->value);
    std::vector<cleave_ring_change> result;
    for (const Ring::Change& change : Ring::diff(before->value, after->value)) {
      result.push_back(
          {change.first, change.last, from.at(change.from), to.at(change.to), change.share});
    }
    return give(result, {changes, capacity, count});
  });
}
