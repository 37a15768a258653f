#include "balance/stock.h"

#include <algorithm>

#include "base/wide.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kCellSamples = 32;  // a relative error of about 1 / sqrt(32) of its keys
constexpr std::uint64_t kSharedToken = 3;   // drawn so often, it is no single key
constexpr std::uint64_t kLargeShare = 64;   // 1 / 64 of the bytes: worth a slice of its own

std::uint64_t share(std::uint64_t amount, Wide part, Wide whole) {
  return whole == 0 ? 0 : static_cast<std::uint64_t>(Wide{amount} * part / whole);
}

// part / whole of an amount below 2^53, where both may need 65 bits.
std::uint64_t by_width(std::uint64_t amount, Wide part, Wide whole) {
  return share(amount, part >> 1U, std::max(whole >> 1U, Wide{1}));
}

}  // namespace

Stock::Stock(const std::vector<ring::TokenRange>& ranges, std::span<const KeySample> sample,
             std::uint64_t keys, std::uint64_t bytes)
    : keys_(keys), bytes_(bytes), samples_(sample.size()), cells_(1) {
  for (const KeySample& each : sample) sampled_bytes_ += each.bytes;
  for (const ring::TokenRange& range : ranges) {
    const auto first = std::ranges::lower_bound(sample, range.first, {}, &KeySample::token);
    const auto last = std::ranges::upper_bound(sample, range.last, {}, &KeySample::token);
    add_range(range, {first, last});
  }
  spread_cells();
  std::ranges::sort(slices_, {}, &Slice::range);
  keys_before_.push_back(0);
  bytes_before_.push_back(0);
  for (const Slice& each : slices_) {
    keys_before_.push_back(keys_before_.back() + each.keys);
    bytes_before_.push_back(bytes_before_.back() + each.bytes);
  }
}

void Stock::add_range(const ring::TokenRange& range, std::span<const KeySample> inside) {
  Token begin = range.first;
  bool open = true;  // tokens from `begin` on are in no cell yet
  while (!inside.empty()) {
    const Token token = inside.front().token;
    const auto end = std::ranges::upper_bound(inside, token, {}, &KeySample::token);
    const std::span<const KeySample> same(inside.begin(), end);
    inside = {end, inside.end()};
    std::uint64_t bytes = 0;
    for (const KeySample& each : same) bytes += each.bytes;
    const bool own_slice =
        same.size() >= kSharedToken || Wide{bytes} * kLargeShare >= sampled_bytes_;
    if (own_slice) {
      if (begin < token) {
        cells_.back().ranges.push_back({begin, Token{token.value() - 1}});
      }
      add_token(token, same);
    } else {
      cells_.back().samples += same.size();
      cells_.back().bytes += bytes;
      if (cells_.back().samples < kCellSamples) continue;
      close_cell({begin, token});
    }
    open = token < range.last;
    if (open) begin = Token{token.value() + 1};
  }
  if (open) cells_.back().ranges.push_back({begin, range.last});
}

// Shared by many keys, as far as its samples tell; a large key alone is just what it is.
void Stock::add_token(Token token, std::span<const KeySample> same) {
  std::uint64_t bytes = 0;
  for (const KeySample& each : same) bytes += each.bytes;
  Slice slice{.range = {token, token}, .keys = 1, .bytes = std::min(bytes, bytes_)};
  if (same.size() >= kSharedToken) {
    slice.keys = std::max<std::uint64_t>(1, share(keys_, same.size(), samples_));
    slice.bytes = share(bytes_, bytes, sampled_bytes_);
  }
  slices_.push_back(slice);
}

void Stock::close_cell(const ring::TokenRange& range) {
  cells_.back().ranges.push_back(range);
  cells_.emplace_back();
}

// What a cell holds lies evenly over its ranges. A last cell of few samples says nothing alone.
void Stock::spread_cells() {
  if (cells_.size() > 1 && cells_.back().samples < kCellSamples / 2) {
    const Cell last = std::move(cells_.back());
    cells_.pop_back();
    Cell& into = cells_.back();
    into.ranges.insert(into.ranges.end(), last.ranges.begin(), last.ranges.end());
    into.samples += last.samples;
    into.bytes += last.bytes;
  }
  for (const Cell& cell : cells_) {
    Wide width = 0;
    for (const ring::TokenRange& each : cell.ranges) width += ring::width(each);
    const std::uint64_t keys = share(keys_, cell.samples, samples_);
    const std::uint64_t bytes = share(bytes_, cell.bytes, sampled_bytes_);
    for (const ring::TokenRange& each : cell.ranges) {
      slices_.push_back({.range = each,
                         .keys = by_width(keys, ring::width(each), width),
                         .bytes = by_width(bytes, ring::width(each), width)});
    }
  }
}

// Of all tokens up to this one, itself included.
std::uint64_t Stock::below(Token token, std::uint64_t Slice::* amount,
                           const std::vector<std::uint64_t>& before) const {
  const auto slice = std::ranges::lower_bound(slices_, token, {},
                                              [](const Slice& each) { return each.range.last; });
  const auto at = static_cast<std::size_t>(slice - slices_.begin());
  if (slice == slices_.end() || token < slice->range.first) return before[at];
  if (token == slice->range.last) return before[at + 1];
  return before[at] + by_width((*slice).*amount, ring::width({slice->range.first, token}),
                               ring::width(slice->range));
}

std::uint64_t Stock::keys_in(const ring::TokenRange& range) const {
  const std::uint64_t to = below(range.last, &Slice::keys, keys_before_);
  if (range.first == ring::kFirstToken) return to;
  return to - below(Token{range.first.value() - 1}, &Slice::keys, keys_before_);
}

std::uint64_t Stock::bytes_in(const ring::TokenRange& range) const {
  const std::uint64_t to = below(range.last, &Slice::bytes, bytes_before_);
  if (range.first == ring::kFirstToken) return to;
  return to - below(Token{range.first.value() - 1}, &Slice::bytes, bytes_before_);
}

}  // namespace cleave::balance
