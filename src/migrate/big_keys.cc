#include "migrate/big_keys.h"

#include "base/check.h"

namespace cleave::migrate {
namespace {

// A key that was written as a whole in so many rounds, or whose elements did not get fewer in so
// many, stays behind.
constexpr std::uint32_t kRoundsMax = 8;
// Routers are told of so many; others are marked as a whole.
constexpr std::size_t kWatchedMax = 256;
constexpr std::uint32_t kTakes = 2;

}  // namespace

void BigKeys::found(const std::string& key) { keys_[key].copied = false; }

void BigKeys::copied(const std::string& key, bool slow) {
  CHECK(keys_.contains(key));  // only what was found is copied in pieces
  Key& known = keys_[key];
  known.copied = true;
  known.slow = slow;
  known.elements = 0;
}

std::vector<std::string> BigKeys::watch() {
  std::vector<std::string> names;
  for (auto& [name, key] : keys_) {
    key.asked = names.size() < kWatchedMax;
    if (key.asked) names.push_back(name);
  }
  CHECK(names.size() <= kWatchedMax);
  return names;
}

void BigKeys::watched() {
  for (auto& [name, key] : keys_) key.takes += key.asked ? 1U : 0U;
}

bool BigKeys::is_ready(std::string_view key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() || known->second.takes >= kTakes || keys_.size() > kWatchedMax;
}

bool BigKeys::is_slow(std::string_view key) const {
  const auto known = keys_.find(key);
  return known != keys_.end() && known->second.slow;
}

std::map<std::string, std::string> BigKeys::restless(const Dirty& dirty, std::size_t few) {
  std::map<std::string, std::string> all;
  for (const auto& [name, elements] : dirty.marks()) {
    const auto known = keys_.find(name);
    if (known == keys_.end()) continue;
    Key& key = known->second;
    if (elements.empty()) {
      if (key.copied && key.slow && ++key.whole_rounds >= kRoundsMax)
        all[name] = "it was written again each time while it was copied in pieces";
      continue;
    }
    const bool longer =
        elements.size() > few && key.elements > 0 && elements.size() >= key.elements;
    key.elements = elements.size();
    if (longer && ++key.long_rounds >= kRoundsMax)
      all[name] = "its elements are written faster than they can be copied";
  }
  return all;
}

}  // namespace cleave::migrate
