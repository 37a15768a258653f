// Look-ups allocate nothing, but in the one scheme of which the headers say so: every `new` of this
// program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cleave/ring_replicas.hpp>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// All of them: one that is left to the standard library calls these two there, but not where a
// sanitizer has put its own, and memory must go back the way it came.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }

namespace cleave {
namespace {

TEST(Allocations, AreNotNeededForLookUps) {
  const std::string keys[] = {"user:17", "{tag}.longer than any small string could be, by far",
                              "caf\xC3\xA9 \xFF\xF0\x9F\x98\x80", "", "42"};
  for (const std::string& scheme : Ring::schemes()) {
    if (scheme == "pymemcache") continue;
    const Ring ring(scheme, {{"10.0.0.1:6379"}, {"10.0.0.2:6379"}, {"10.0.0.3:6379"}});
    const Ring cut = ring.fixed_tokens() ? ring.with_cut({5, 1'000, "10.0.0.1:6379"}) : ring;
    const RingReplicas replicas = RingReplicas::simple(ring, 2);
    std::size_t nodes[2] = {};
    const std::size_t before = allocations;
    for (const std::string& key : keys) {
      (void)cut.locate(key);
      (void)cut.token_of(key);
      (void)replicas.locate(key, nodes);
    }
    (void)cut.owner(7);
    const Ring copy = cut;
    EXPECT_EQ(allocations - before, 0U) << scheme;
  }
}

}  // namespace
}  // namespace cleave
