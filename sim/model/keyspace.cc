#include "sim/model/keyspace.h"

#include <algorithm>

#include "base/hash.h"

namespace cleave::sim {

const Entry* Keyspace::find(std::string_view key) {
  const Entry* entry = peek(key);
  if (entry != nullptr) entries_.find(key)->second.used_ms = now_ms_;
  return entry;
}

const Entry* Keyspace::peek(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  const Entry& entry = found->second;
  if (entry.expires_ms != kNever && now_ms_ > entry.expires_ms) {
    remember(key);
    remove(key);
    return nullptr;
  }
  return &entry;
}

Entry* Keyspace::edit(std::string_view key) {
  if (find(key) == nullptr) return nullptr;
  remember(key);
  return &entries_.find(key)->second;
}

void Keyspace::put(std::string_view key, Entry entry) {
  remember(key);
  if (entry.used_ms == 0) entry.used_ms = now_ms_;
  entries_.insert_or_assign(std::string(key), std::move(entry));
  order_.emplace(place(key), key);
}

bool Keyspace::erase(std::string_view key) {
  if (peek(key) == nullptr) return false;
  remember(key);
  remove(key);
  return true;
}

void Keyspace::clear() {
  for (const auto& [key, entry] : entries_) journal_.push_back({key, entry});
  entries_.clear();
  order_.clear();
}

void Keyspace::remove(std::string_view key) {
  order_.erase({place(key), std::string(key)});
  entries_.erase(entries_.find(key));
}

void Keyspace::remember(std::string_view key) {
  const auto found = entries_.find(key);
  journal_.push_back({std::string(key), found == entries_.end()
                                            ? std::nullopt
                                            : std::optional<Entry>(found->second)});
}

std::uint64_t Keyspace::place(std::string_view key) const {
  // Never 0: that cursor means "from the start" and "the end".
  return std::max<std::uint64_t>(1, xxh3_64(key) ^ seed_);
}

ScanPage Keyspace::scan(std::uint64_t cursor, std::size_t count) {
  ScanPage page;
  auto at = order_.lower_bound({cursor, ""});
  while (at != order_.end() && page.keys.size() < count) {
    const std::uint64_t place_now = at->first;
    for (; at != order_.end() && at->first == place_now; ++at) page.keys.push_back(at->second);
  }
  page.next = at == order_.end() ? 0 : at->first;
  std::erase_if(page.keys, [this](const std::string& key) { return peek(key) == nullptr; });
  return page;
}

std::set<std::string> Keyspace::lose(std::size_t changes) {
  std::set<std::string> keys;
  for (; changes > 0 && !journal_.empty(); --changes) {
    Change change = std::move(journal_.back());
    journal_.pop_back();
    keys.insert(change.key);
    if (entries_.contains(change.key)) remove(change.key);
    if (change.before) {
      order_.emplace(place(change.key), change.key);
      entries_.insert_or_assign(change.key, std::move(*change.before));
    }
  }
  journal_.clear();
  return keys;
}

}  // namespace cleave::sim
