#include "control/observe/key_sampler.h"

#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/hash.h"
#include "base/own_names.h"

namespace cleave::control {
namespace {

constexpr std::uint32_t kFailuresMax = 8;  // then it will not answer at all

}  // namespace

void KeySampler::ask(NodeId node, const std::shared_ptr<backend::RedisStore>& store,
                     const ring::RingSnapshot& view, std::size_t pages) {
  if (store == nullptr || !store->usable() || pages == 0) return;
  if (std::exchange(nodes_[node].pages_left, pages) > 0) return;
  ask_page({.node = node, .store = store, .view = view});
}

void KeySampler::ask_page(const Walk& walk) {
  CHECK(walk.store != nullptr && walk.view != nullptr);
  const std::string count = std::to_string(balance::WalkPace::kPageKeys);
  backend::Commands commands;
  commands.add({"SCAN", nodes_[walk.node].cursor, "COUNT", count});
  walk.store->run(commands, guarded(alive_, [this, walk](Result<backend::Replies> replies) {
                    if (!nodes_.contains(walk.node)) return;
                    if (!replies || replies->front().elements.size() != 2) return failed(walk.node);
                    take_page(walk, replies->front());
                  }));
}

void KeySampler::take_page(const Walk& walk, const wire::Reply& page) {
  nodes_[walk.node].cursor = page.elements[0].text;
  std::vector<std::string> keys;
  for (const wire::Reply& key : page.elements[1].elements) {
    if (!key.text.starts_with(kOwnKeyPrefix)) keys.push_back(key.text);
  }
  ask_sizes(walk, std::move(keys));
}

void KeySampler::ask_sizes(const Walk& walk, std::vector<std::string> keys) {
  if (keys.empty()) return take_sizes(walk, {}, {});
  CHECK(nodes_.contains(walk.node));
  backend::Commands commands;
  for (const std::string& key : keys) commands.add({"MEMORY", "USAGE", key});
  walk.store->run(
      commands,
      guarded(alive_, [this, walk, keys = std::move(keys)](Result<backend::Replies> replies) {
        if (!nodes_.contains(walk.node)) return;
        if (!replies || replies->front().is_error()) return failed(walk.node);
        take_sizes(walk, keys, *replies);
      }));
}

void KeySampler::take_sizes(const Walk& walk, const std::vector<std::string>& keys,
                            const backend::Replies& sizes) {
  CHECK(sizes.size() == keys.size());
  std::vector<balance::MetKey> met;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const wire::Reply& size = sizes[i];
    // It may have gone between the two questions.
    if (size.type != wire::Reply::Type::kInteger || size.integer <= 0) continue;
    met.push_back({.name_hash = xxh3_64(keys[i]),
                   .token = walk.view->token_of(keys[i]),
                   .bytes = static_cast<std::uint64_t>(size.integer)});
  }
  Node& node = nodes_[walk.node];
  node.pages_failed = 0;
  node.census.add(met, loop_.now());
  CHECK(node.pages_left > 0);
  if (--node.pages_left > 0) ask_page(walk);
}

void KeySampler::failed(NodeId node) {
  nodes_[node].pages_left = 0;
  ++nodes_[node].pages_failed;
}

bool KeySampler::answers(NodeId node) const {
  const auto known = nodes_.find(node);
  return known == nodes_.end() || known->second.pages_failed < kFailuresMax;
}

const std::vector<balance::KeySample>& KeySampler::of(NodeId node, const ring::RingView& view) {
  return nodes_[node].census.sample(view, node);
}

}  // namespace cleave::control
