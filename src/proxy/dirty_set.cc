#include "proxy/dirty_set.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace cleave::proxy {

std::size_t DirtySet::Hash::operator()(std::string_view key) const { return xxh3_64(key); }

void DirtySet::add(std::string_view key) {
  if (whole_range_ || keys_.contains(key)) return;
  bytes_ += key.size();
  if (keys_.size() >= keys_max_ || bytes_ > keys_max_ * kBytesPerKey) return add_whole_range();
  keys_.emplace(key);
}

void DirtySet::add_whole_range() {
  whole_range_ = true;
  keys_.clear();
  bytes_ = 0;
}

void DirtySet::add(const peer::DirtyBatch& batch) {
  if (batch.whole_range) add_whole_range();
  for (const std::string& key : batch.keys) add(key);
}

peer::DirtyBatch DirtySet::take(std::uint64_t number) {
  peer::DirtyBatch batch{.number = number, .keys = {}, .whole_range = whole_range_};
  batch.keys.reserve(keys_.size());
  while (!keys_.empty()) batch.keys.push_back(std::move(keys_.extract(keys_.begin()).value()));
  std::ranges::sort(batch.keys);  // the same set is the same batch, whatever the hash table does
  keys_.clear();
  bytes_ = 0;
  whole_range_ = false;
  return batch;
}

}  // namespace cleave::proxy
