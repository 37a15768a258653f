// A fleet that libmemcached spreads keys over gets one server more, without a moment in which it is
// unclear where a key is: the ranges that change owner are moved one by one.
//
//   1. take over    the same ring as libmemcached's: no key moves
//   2. join         the new ring, with a cut over each range that would move: still no key moves
//   3. move         copy a range, then take its cut away; until the last one is gone
#include <cleave/ring.hpp>
#include <cstdio>
#include <string>
#include <vector>

using cleave::Ring;

namespace {

// Of 10,000 keys, how many two rings place on nodes of different names.
int keys_that_differ(const Ring& one, const Ring& other) {
  int count = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string key = "session:" + std::to_string(i);
    count += one.nodes()[*one.locate(key)].name != other.nodes()[*other.locate(key)].name;
  }
  return count;
}

// Here the application would copy the keys whose token lies in the range, from `change.from` to
// `change.to`.
void copy_keys(const Ring::Change& /*change*/) {}

}  // namespace

int main() {
  const Ring ketama("libmemcached-ketama-weighted",
                    {{"10.0.0.1:11211", 1}, {"10.0.0.2:11211", 1}, {"10.0.0.3:11211", 2}});

  const Ring target = ketama.with_node({"10.0.0.4:11211", 1});
  const std::vector<Ring::Change> changes = Ring::diff(ketama, target);
  double share = 0;
  for (const Ring::Change& change : changes) share += change.share;
  std::printf("the join changes %zu ranges, %.1f %% of all tokens\n", changes.size(), 100 * share);

  // Every range that would move stays where its keys are.
  Ring ring = target;
  for (const Ring::Change& change : changes) {
    ring = ring.with_cut({change.first, change.last, change.from});
  }
  std::printf("after the join, before the moves: %d of 10000 keys elsewhere\n",
              keys_that_differ(ketama, ring));

  // At any step the ring can be stored (to_text) and the rest be done later, or be undone.
  std::size_t done = 0;
  for (const Ring::Change& change : changes) {
    copy_keys(change);
    ring = ring.with_cut({change.first, change.last, change.to});
    if (++done == changes.size() / 2) {
      ring = Ring::from_text(ring.to_text());
      std::printf("half way: %d of 10000 keys moved\n", keys_that_differ(ketama, ring));
    }
  }
  std::printf("after the moves: %d of 10000 keys moved, %d not where ketama wants them\n",
              keys_that_differ(ketama, ring), keys_that_differ(target, ring));

  // Now the cuts say what the scheme says: they can go.
  std::printf("the cuts can go: %s\n",
              Ring::diff(ring, ring.without_cuts()).empty() ? "yes" : "no");
}
