#include "proxy/moves/dirty_set.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace cleave::proxy {

std::size_t DirtySet::Hash::operator()(std::string_view key) const { return xxh3_64(key); }

void DirtySet::add(std::string_view key) {
  if (whole_range_ || keys_.contains(key)) return;
  if (!elements_.empty()) forget_elements(key);
  bytes_ += key.size();
  if (size() >= keys_max_ || bytes_ > keys_max_ * kBytesPerKey) return add_whole_range();
  keys_.emplace(key);
}

void DirtySet::add(std::string_view key, std::span<const std::string> elements) {
  if (elements.empty()) return add(key);
  if (whole_range_ || keys_.contains(key)) return;
  auto known = elements_.find(key);
  if (known == elements_.end()) {
    bytes_ += key.size();
    known = elements_.emplace(key, std::set<std::string, std::less<>>{}).first;
  }
  for (const std::string& element : elements) {
    if (!known->second.insert(element).second) continue;
    ++elements_count_;
    bytes_ += element.size();
  }
  // Half of the room at most: the other half is for keys.
  if (elements_count_ > keys_max_ / 2 || bytes_ > keys_max_ * kBytesPerKey / 2) add(key);
}

void DirtySet::forget_elements(std::string_view key) {
  const auto known = elements_.find(key);
  if (known == elements_.end()) return;
  bytes_ -= key.size();
  for (const std::string& element : known->second) bytes_ -= element.size();
  elements_count_ -= known->second.size();
  elements_.erase(known);
}

void DirtySet::add_hiding(std::string_view key, std::span<const std::string> elements) {
  const auto whole = keys_.find(key);
  if (whole != keys_.end() && !elements.empty()) {
    bytes_ -= key.size();
    keys_.erase(whole);
  }
  add(key, elements);
}

void DirtySet::add_whole_range() {
  whole_range_ = true;
  keys_.clear();
  elements_.clear();
  elements_count_ = 0;
  bytes_ = 0;
}

void DirtySet::add(const peer::DirtyBatch& batch) {
  if (batch.whole_range) add_whole_range();
  for (const std::string& key : batch.keys) add(key);
  for (const Touched& each : batch.elements) add(each.key, each.elements);
}

peer::DirtyBatch DirtySet::take(std::uint64_t number) {
  peer::DirtyBatch batch{.number = number, .keys = {}, .whole_range = whole_range_};
  batch.keys.reserve(keys_.size());
  while (!keys_.empty()) batch.keys.push_back(std::move(keys_.extract(keys_.begin()).value()));
  std::ranges::sort(batch.keys);  // the same set is the same batch, whatever the hash table does
  while (!elements_.empty()) {
    auto node = elements_.extract(elements_.begin());
    Touched touched{.key = std::move(node.key()), .elements = {}};
    while (!node.mapped().empty())
      touched.elements.push_back(std::move(node.mapped().extract(node.mapped().begin()).value()));
    batch.elements.push_back(std::move(touched));
  }
  keys_.clear();
  elements_count_ = 0;
  bytes_ = 0;
  whole_range_ = false;
  return batch;
}

}  // namespace cleave::proxy
