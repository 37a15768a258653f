#include "ring_bench.h"

#include <malloc.h>

#include "base/rng.h"

namespace cleave::bench {

const std::vector<Key>& keys() {
  static const std::vector<Key> kKeys = [] {
    std::vector<Key> made(std::size_t{1} << 20U);
    Rng rng(1);
    for (Key& key : made) {
      std::uint64_t number = rng.next();
      for (char& c : key) {
        c = static_cast<char>('a' + number % 16);
        number /= 16;
      }
    }
    return made;
  }();
  return kKeys;
}

std::size_t heap_bytes() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;  // in the arenas, and in mappings of their own
}

}  // namespace cleave::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  cleave::bench::register_cleave();
#ifdef WITH_LIBMEMCACHED
  cleave::bench::register_libmemcached();
#endif
#ifdef WITH_RUST
  cleave::bench::register_rust();
#endif
  benchmark::RunSpecifiedBenchmarks();
}
