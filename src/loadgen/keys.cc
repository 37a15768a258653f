#include "loadgen/keys.h"

#include <array>

namespace cleave::loadgen {
namespace {

constexpr std::size_t kDigits = 12;

}  // namespace

Keys::Keys(Options options)
    : options_(std::move(options)), zipf_(options_.count, options_.zipf_thousandths) {
  if (!options_.hot_filter) return;
  std::vector<std::uint32_t> others;
  std::string text;
  for (std::uint32_t key = 0; key < options_.count; ++key) {
    text.clear();
    append_name(key, text);
    (options_.hot_filter(text) ? order_ : others).push_back(key);
  }
  order_.insert(order_.end(), others.begin(), others.end());
}

void Keys::append_name(std::uint32_t key, std::string& out) const {
  if (options_.name) {
    out += options_.name(key);
    return;
  }
  std::array<char, kDigits> digits;
  digits.fill('0');
  for (std::size_t place = kDigits; key > 0; key /= 10) {
    digits[--place] = static_cast<char>('0' + key % 10);
  }
  out.append(options_.prefix).append(digits.data(), digits.size());
}

std::string Keys::name(std::uint32_t key) const {
  std::string out;
  append_name(key, out);
  return out;
}

std::uint32_t Keys::draw(Rng& rng, std::uint64_t shifts) const {
  return at_rank(zipf_.draw(rng), shifts);
}

std::uint32_t Keys::at_rank(std::size_t rank, std::uint64_t shifts) const {
  const std::uint64_t step = options_.count / 4 + 1;
  const auto place = static_cast<std::uint32_t>((rank + shifts * step) % options_.count);
  return order_.empty() ? place : order_[place];
}

std::vector<std::uint64_t> Keys::shares(std::uint64_t shifts) const {
  std::vector<std::uint64_t> shares(options_.count);
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    shares[at_rank(rank, shifts)] = zipf_.share(rank);
  }
  return shares;
}

}  // namespace cleave::loadgen
