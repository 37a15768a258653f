// Which server holds a key, exactly as twemproxy would choose it; what a third server takes over;
// and how one hot key gets a server to itself.
#include <cleave/ring.hpp>
#include <cstdio>

int main() {
  // As in the proxy's configuration: servers "10.0.0.1:6379:1 one" and so on are hashed by name.
  const cleave::Ring ring("twemproxy-ketama", {{"one"}, {"two", 2}},
                          {{"hash", "fnv1a_64"}, {"hash_tag", "{}"}});

  for (const char* key : {"user:17", "{user:17}:cart", "user:18"}) {
    const auto node = ring.locate(key);  // an index; nothing for keys that the peer refuses
    std::printf("%s -> %s\n", key, ring.nodes()[*node].name.c_str());
  }

  // A ring never changes: a change gives a new one, and the difference can be asked for.
  const cleave::Ring grown = ring.with_node({"three"});
  double moved = 0;
  for (const cleave::Ring::Change& change : cleave::Ring::diff(ring, grown)) moved += change.share;
  std::printf("three takes %.1f %% of the keys\n", 100 * moved);

  // A cut gives a range of tokens to a node, whatever the scheme says; here, that of a single key.
  const std::uint64_t hot = *grown.token_of("{user:17}");
  const cleave::Ring cut = grown.with_cut({hot, hot, "three"});
  std::printf("{user:17}:cart -> %s\n", cut.nodes()[*cut.locate("{user:17}:cart")].name.c_str());

  // What cannot be is an exception that says why.
  try {
    ring.with_weight("two", 0);
  } catch (const cleave::RingError& error) {
    std::printf("error: %s\n", error.what());
  }
}
