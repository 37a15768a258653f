#include "balance/input/stock.h"

#include <algorithm>

#include "base/check.h"
#include "base/ppm.h"
#include "ring/canonical.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kCellSamples = 32;    // a relative error of about 1 / sqrt(32) of its keys
constexpr std::uint64_t kCellKnown = 8;       // there is none where most keys are known
constexpr std::uint64_t kSharedToken = 3;     // keys of one token: it is no key's alone
constexpr std::uint64_t kLargeShare = 1'024;  // 1 / 1024 of the bytes: worth a slice of its own

// part / whole of an amount below 2^53; of absurdly large parts the lowest bits do not matter.
std::uint64_t share(std::uint64_t amount, Wide part, Wide whole) {
  for (; whole >> 74U != 0; whole >>= 1U) part >>= 1U;
  return whole == 0 ? 0 : static_cast<std::uint64_t>(Wide{amount} * part / whole);
}

// part / whole, where both may need 65 bits.
std::uint64_t by_width(std::uint64_t amount, Wide part, Wide whole) {
  return share(amount, part >> 1U, std::max(whole >> 1U, Wide{1}));
}

// The same of a variance: below 2^107, as a square of bytes is.
Wide by_width(Wide variance, Wide part, Wide whole) {
  return variance * by_width(kMillion, part, whole) / kMillion;
}

}  // namespace

std::uint64_t square_root(Wide square) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63U; bit != 0; bit >>= 1U) {
    const std::uint64_t more = root | bit;
    if (Wide{more} * more <= square) root = more;
  }
  return root;
}

Stock::Stock(const std::vector<ring::TokenRange>& ranges, std::span<const KeySample> sample,
             std::uint64_t keys, std::uint64_t bytes)
    : keys_(keys), bytes_(bytes), samples_(sample.size()), cells_(1) {
  CHECK(std::ranges::is_sorted(sample, {}, &KeySample::token));
  for (const KeySample& each : sample) {
    weight_ += each.weight_ppm;
    sampled_bytes_ += Wide{each.bytes} * each.weight_ppm;
  }
  for (const ring::TokenRange& range : ranges) {
    const auto first = std::ranges::lower_bound(sample, range.first, {}, &KeySample::token);
    const auto last = std::ranges::upper_bound(sample, range.last, {}, &KeySample::token);
    add_range(range, {first, last});
  }
  spread_cells();
  std::ranges::sort(slices_, {}, &Slice::range);
  CHECK(ring::are_disjoint(slices_));
  keys_before_.push_back(0);
  bytes_before_.push_back(0);
  variance_before_.push_back(0);
  for (const Slice& each : slices_) {
    keys_before_.push_back(keys_before_.back() + each.keys);
    bytes_before_.push_back(bytes_before_.back() + each.bytes);
    variance_before_.push_back(variance_before_.back() + each.variance);
  }
}

void Stock::add_range(const ring::TokenRange& range, std::span<const KeySample> inside) {
  Token begin = range.first;
  bool open = true;  // tokens from `begin` on are in no cell yet
  while (!inside.empty()) {
    const Token token = inside.front().token;
    const auto end = std::ranges::upper_bound(inside, token, {}, &KeySample::token);
    Cell same;
    for (auto each = inside.begin(); each != end; ++each) count(same, *each);
    inside = {end, inside.end()};
    if (own_slice(same)) {
      if (begin < token) {
        cells_.back().ranges.push_back({begin, Token{token.value() - 1}});
      }
      add_token(token, same);
    } else {
      Cell& cell = cells_.back();
      cell.samples += same.samples;
      cell.weight += same.weight;
      cell.bytes += same.bytes;
      cell.variance += same.variance;
      if (cell.samples < (most_are_known() ? kCellKnown : kCellSamples)) continue;
      close_cell({begin, token});
    }
    open = token < range.last;
    if (open) begin = Token{token.value() + 1};
  }
  if (open) cells_.back().ranges.push_back({begin, range.last});
}

// While most keys are not known, a large one must stand out: its like may lie anywhere.
bool Stock::own_slice(const Cell& same) const {
  if (same.samples >= kSharedToken) return true;
  const Wide of_bytes = most_are_known() ? kLargeShare : std::min<Wide>(kLargeShare, samples_ / 8);
  return same.bytes * of_bytes >= sampled_bytes_;
}

bool Stock::most_are_known() const { return weight_ >= Wide{keys_} * kMillion / 10 * 9; }

// With what it stands for: as if each key had been drawn alone, with probability bytes / estimate.
// The few that are missing where most are known count by their mean only.
void Stock::count(Cell& cell, const KeySample& sample) const {
  const Wide weighted = Wide{sample.bytes} * sample.weight_ppm;
  const std::uint64_t estimate = most_are_known() ? share(sample.bytes, sample.weight_ppm, kMillion)
                                                  : share(bytes_, weighted, sampled_bytes_);
  ++cell.samples;
  cell.weight += sample.weight_ppm;
  cell.bytes += weighted;
  cell.variance += Wide{estimate} * above(estimate, sample.bytes);
}

// Shared by many keys, as far as its samples tell; a large key alone is just what it is, but one
// never knows how many more lie there.
void Stock::add_token(Token token, const Cell& same) {
  Slice slice{.range = {token, token}, .keys = 1, .variance = same.variance};
  if (same.samples >= kSharedToken) {
    slice.keys = std::max<std::uint64_t>(1, share(keys_, same.weight, weight_));
    slice.bytes = share(bytes_, same.bytes, sampled_bytes_);
  } else {
    slice.keys = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(same.weight / kMillion));
    slice.bytes = static_cast<std::uint64_t>(std::min(same.bytes / kMillion, Wide{bytes_}));
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
    into.weight += last.weight;
    into.bytes += last.bytes;
    into.variance += last.variance;
  }
  for (const Cell& cell : cells_) {
    Wide width = 0;
    for (const ring::TokenRange& each : cell.ranges) width += ring::width(each);
    const std::uint64_t keys = share(keys_, cell.weight, weight_);
    const std::uint64_t bytes = share(bytes_, cell.bytes, sampled_bytes_);
    for (const ring::TokenRange& each : cell.ranges) {
      slices_.push_back({.range = each,
                         .keys = by_width(keys, ring::width(each), width),
                         .bytes = by_width(bytes, ring::width(each), width),
                         .variance = by_width(cell.variance, ring::width(each), width)});
    }
  }
}

// Of all tokens up to this one, itself included.
template <class Amount>
Amount Stock::below(Token token, Amount Slice::* amount, const std::vector<Amount>& before) const {
  const auto slice = std::ranges::lower_bound(slices_, token, {},
                                              [](const Slice& each) { return each.range.last; });
  const auto at = static_cast<std::size_t>(slice - slices_.begin());
  if (slice == slices_.end() || token < slice->range.first) return before[at];
  if (token == slice->range.last) return before[at + 1];
  return before[at] + by_width((*slice).*amount, ring::width({slice->range.first, token}),
                               ring::width(slice->range));
}

template <class Amount>
Amount Stock::inside(const ring::TokenRange& range, Amount Slice::* amount,
                     const std::vector<Amount>& before) const {
  const Amount to = below(range.last, amount, before);
  if (range.first == ring::kFirstToken) return to;
  const Amount from = below(Token{range.first.value() - 1}, amount, before);
  CHECK(from <= to);  // the sums grow from token to token
  return to - from;
}

std::uint64_t Stock::keys_in(const ring::TokenRange& range) const {
  return inside(range, &Slice::keys, keys_before_);
}

std::uint64_t Stock::bytes_in(const ring::TokenRange& range) const {
  return inside(range, &Slice::bytes, bytes_before_);
}

Wide Stock::variance_in(const ring::TokenRange& range) const {
  return inside(range, &Slice::variance, variance_before_);
}

}  // namespace cleave::balance
