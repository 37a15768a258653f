#include <cleave/ring_builder.hpp>
#include <utility>

#include "ring/placed/placed_ring_builder.h"
#include "ring_library/ring_error.h"
#include "ring_library/ring_impl.h"

namespace cleave {

using ring_library::value_or_raise;

// The core's builder, and its present ring as it is given out.
struct [[gnu::visibility("hidden")]] RingBuilder::Impl {
  explicit Impl(const Ring& first)
      : builder(value_or_raise(ring::PlacedRingBuilder::start(RingAccess::of(first)))),
        present(first) {}

  void adopt(const Result<void>& changed) {
    if (!changed) ring_library::raise(changed.error());
    present = RingAccess::wrap(builder.ring());
  }

  ring::PlacedRingBuilder builder;
  Ring present;
};

RingBuilder::RingBuilder(const Ring& ring) : impl_(std::make_unique<Impl>(ring)) {}
RingBuilder::RingBuilder(RingBuilder&&) noexcept = default;
RingBuilder& RingBuilder::operator=(RingBuilder&&) noexcept = default;
RingBuilder::~RingBuilder() = default;

const Ring& RingBuilder::ring() const noexcept { return impl_->present; }

void RingBuilder::add(const Ring::Node& node) {
  impl_->adopt(impl_->builder.add(ring_library::core_node(node)));
}

void RingBuilder::remove(std::string_view name) { impl_->adopt(impl_->builder.remove(name)); }

void RingBuilder::set_weight(std::string_view name, std::uint32_t weight) {
  impl_->adopt(impl_->builder.set_weight(name, weight));
}

}  // namespace cleave
