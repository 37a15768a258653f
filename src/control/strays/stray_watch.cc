#include "control/strays/stray_watch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"

namespace cleave::control {
namespace {

constexpr milliseconds kTick{100};
constexpr milliseconds kPageEvery{1'000};
constexpr milliseconds kFirstPageEvery{100};
constexpr milliseconds kAfterFailure{10'000};

}  // namespace

StrayWatch::StrayWatch(Options options) : options_(std::move(options)) {
  CHECK(options_.list != nullptr && options_.view != nullptr);
  CHECK(options_.decided != nullptr && options_.does_not_fit != nullptr);
  options_.loop.after(kTick, guarded(alive_, [this] { tick(); }));
}

void StrayWatch::tick() {
  options_.loop.after(kTick, guarded(alive_, [this] { tick(); }));
  const ring::RingSnapshot view = options_.view();
  if (view == nullptr) return;
  std::erase_if(nodes_, [&](const auto& known) {
    return ring::find_node(view->document(), known.first) == nullptr;
  });
  for (const ring::Node& each : view->document().nodes) {
    Node& node = nodes_[each.id];
    if (!node.asked && options_.loop.now() >= node.next) ask(each.id, node);
  }
}

void StrayWatch::ask(NodeId id, Node& node) {
  CHECK(!node.asked);
  const bool begins = node.cursor.empty();
  node.asked = options_.list(
      id, node.cursor,
      guarded(alive_, [this, id, before = options_.view()](Result<backend::Page> page) {
        const auto found = nodes_.find(id);
        if (found == nodes_.end()) return;
        Node& asked = found->second;
        asked.asked = false;
        asked.next = options_.loop.now() + (page ? kPageEvery : kAfterFailure);
        if (!page) return;
        asked.cursor = page->next;
        take_page(id, page->keys, *before);
      }));
  if (node.asked && begins) node.walk = StrayCounter(id, StrayCount::kExamples);
}

void StrayWatch::take_page(NodeId id, const std::vector<std::string>& keys,
                           const ring::RingView& before) {
  Node& node = nodes_[id];
  const ring::RingSnapshot view = options_.view();
  CHECK(view != nullptr);
  for (const std::string& key : keys) node.walk.add(key, before, *view);
  const bool first = !node.last.whole && node.walk.count().keys < kFirstKeys;
  if (node.cursor.empty()) node.walk.end();
  if (first && !node.cursor.empty()) node.next = options_.loop.now() + kFirstPageEvery;
  const StrayCount& now = node.walk.count();
  if (now.whole || !node.last.whole) return settle(id, node, now);
  // A walk that is not at its end may already know of more than the last one did.
  if (now.strays <= node.last.strays) return;
  StrayCount more = node.last;
  more.keys = std::max(more.keys, now.keys);
  more.strays = now.strays;
  more.examples = now.examples;
  settle(id, node, more);
}

void StrayWatch::settle(NodeId id, Node& node, const StrayCount& count) {
  CHECK(count.strays <= count.keys);
  node.last = count;
  node.known = true;
  watch_growth(id, node, count);
  const bool enough = count.whole || count.keys >= kFirstKeys;
  if (count.strays > 0) {
    if (node.since == UnixMillis{}) node.since = options_.loop.wall_now();
    if (enough && !std::exchange(node.told, true)) tell(id, count);
  } else if (count.whole) {
    node.since = UnixMillis{};
    node.was_clean = true;
    if (std::exchange(node.told, false)) tell(id, count);
  }
  if (!enough) return;
  const bool misfit = count.share_ppm() > kMisplacedMaxPpm;
  if (misfit && !std::exchange(node.misfit, true)) return options_.does_not_fit();
  node.misfit = misfit;
}

std::uint64_t StrayWatch::accepted(NodeId id) const {
  const ring::RingSnapshot view = options_.view();
  const ring::Node* const node = view == nullptr ? nullptr : ring::find_node(view->document(), id);
  return node == nullptr ? 0 : node->strays;
}

// What was accepted and is gone may not hide as many new ones: a whole walk of fewer counts.
void StrayWatch::watch_growth(NodeId id, Node& node, const StrayCount& count) {
  if (const std::uint64_t known = accepted(id); known != node.accepted) {
    node.accepted = known;
    node.expected = known;
    node.most = 0;
  }
  if (count.whole) node.expected = std::min(node.expected, count.strays);
  if (count.whole && count.strays <= node.expected) node.most = 0;
  if (count.strays <= std::max(node.expected, node.most)) return;
  node.most = count.strays;
  node.grew = options_.loop.wall_now();
}

void StrayWatch::accepted_now(NodeId id, std::uint64_t strays) {
  Node& node = nodes_[id];
  node.accepted = strays;
  node.expected = strays;
  node.most = 0;
}

bool StrayWatch::new_strays() const {
  return std::ranges::any_of(nodes_, [](const auto& each) { return each.second.most > 0; });
}

void StrayWatch::take(NodeId node, const StrayCount& count) {
  Node& known = nodes_[node];
  known.cursor.clear();
  if (!count.whole && known.last.whole) return;
  StrayCount kept = count;
  if (kept.examples.size() > StrayCount::kExamples) kept.examples.resize(StrayCount::kExamples);
  settle(node, known, kept);
}

void StrayWatch::tell(NodeId id, const StrayCount& count) const {
  const ring::RingSnapshot view = options_.view();
  const ring::Node* const node = ring::find_node(view->document(), id);
  const bool gone = count.strays == 0;
  options_.decided(
      {.at = options_.loop.wall_now(),
       .kind = "strays",
       .subject = "node " + (node == nullptr ? "?" : node->name),
       .reason = gone ? "every key is where the ring looks again"
                      : describe(count) + " are not where the ring looks" + examples_of(count, 3) +
                            ": no client reads them through a router and no move takes them "
                            "along; see 'cleave strays'",
       .predicted = "",
       .real = ""});
}

StrayFacts StrayWatch::facts(NodeId node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  const Node& known = found->second;
  return {.known = known.known,
          .count = known.last,
          .since = known.since,
          .since_exact = known.was_clean,
          .accepted = accepted(node),
          .grew = known.most > 0 ? known.grew : UnixMillis{}};
}

}  // namespace cleave::control
