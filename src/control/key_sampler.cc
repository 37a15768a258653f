#include "control/key_sampler.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/own_names.h"

namespace cleave::control {

void KeySampler::ask(NodeId node, const std::shared_ptr<backend::RedisStore>& store,
                     const ring::RingSnapshot& view) {
  if (store == nullptr || !store->usable()) return;
  backend::Commands commands;
  for (std::size_t i = 0; i < kKeysARound; ++i) commands.add({"RANDOMKEY"});
  store->run(commands, guarded(alive_, [this, node, store, view](Result<backend::Replies> replies) {
               if (!replies) return;
               std::vector<std::string> keys;
               for (wire::Reply& reply : *replies) {
                 if (reply.type != wire::Reply::Type::kBulk) continue;
                 if (reply.text.starts_with(kOwnKeyPrefix)) continue;
                 keys.push_back(std::move(reply.text));
               }
               ask_sizes(node, *store, std::move(keys), view);
             }));
}

void KeySampler::ask_sizes(NodeId node, backend::RedisStore& store, std::vector<std::string> keys,
                           const ring::RingSnapshot& view) {
  if (keys.empty()) return;
  backend::Commands commands;
  for (const std::string& key : keys) commands.add({"MEMORY", "USAGE", key});
  store.run(commands, guarded(alive_, [this, node, keys = std::move(keys),
                                       view](Result<backend::Replies> replies) {
              if (!replies) return;
              for (std::size_t i = 0; i < keys.size(); ++i) {
                const wire::Reply& size = (*replies)[i];
                // It may have gone between the two questions.
                if (size.type != wire::Reply::Type::kInteger || size.integer <= 0) continue;
                keep(node, {.token = view->token_of(keys[i]),
                            .bytes = static_cast<std::uint64_t>(size.integer)});
              }
            }));
}

void KeySampler::keep(NodeId node, const balance::KeySample& sample) {
  Kept& kept = kept_[node];
  kept.samples.push_back(sample);
  if (kept.samples.size() > kKept) kept.samples.pop_front();
  kept.epoch = Epoch{};
}

const std::vector<balance::KeySample>& KeySampler::of(NodeId node, const ring::RingView& view) {
  Kept& kept = kept_[node];
  if (kept.epoch == view.epoch()) return kept.sorted;
  kept.sorted.clear();
  for (const balance::KeySample& sample : kept.samples) {
    if (view.owner(sample.token) == node) kept.sorted.push_back(sample);
  }
  std::ranges::sort(kept.sorted, {}, &balance::KeySample::token);
  kept.epoch = view.epoch();
  return kept.sorted;
}

}  // namespace cleave::control
