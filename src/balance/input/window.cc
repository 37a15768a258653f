#include "balance/input/window.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "base/ppm.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

class Search {
 public:
  Search(const Stretch& stretch, const Price& price, const WindowLimits& limits)
      : stretch_(stretch), price_(price), limits_(limits) {
    CHECK(stretch.tokens.empty() || (stretch.range.contains(stretch.tokens.front().token) &&
                                     stretch.range.contains(stretch.tokens.back().token)));
    loads_before_.push_back(0);
    samples_before_.push_back(0);
    for (const heat::TokenLoad& each : stretch.tokens) {
      loads_before_.push_back(loads_before_.back() + each.load);
      samples_before_.push_back(samples_before_.back() + each.samples);
    }
  }

  std::optional<Window> run();

 private:
  void scan(std::uint64_t load_wanted);
  void offer_tokens(std::size_t first, std::size_t last);
  void offer_range(const ring::TokenRange& range, std::size_t begin, std::size_t end);
  void offer(const Window& window);
  ring::TokenRange widened(const ring::TokenRange& range) const;
  std::size_t at_or_after(Token token) const;
  std::size_t after(Token token) const;

  const Stretch& stretch_;
  const Price& price_;
  const WindowLimits& limits_;
  std::vector<std::uint64_t> loads_before_;  // prefix sums, one more than tokens
  std::vector<std::uint64_t> samples_before_;
  std::array<std::optional<Window>, 3> best_;  // by new boundaries
};

std::optional<Window> Search::run() {
  const ring::TokenRange& whole = stretch_.range;
  offer({whole, stretch_.load, price_.keys_in(whole), 1, 0});
  const std::uint64_t least =
      std::max(limits_.load_min, stretch_.fresh_cut ? limits_.heavy_load : 1);
  // Windows as large as may be first, then smaller and denser ones.
  for (std::uint64_t load = limits_.load_max / 10 * 9; load >= least; load /= 2) scan(load);
  if (loads_before_.back() >= least) scan(least);
  const std::optional<Window>* densest = nullptr;
  for (const auto& each : best_) {
    if (each && (densest == nullptr || each->denser_than(**densest))) densest = &each;
  }
  if (densest == nullptr) return std::nullopt;
  for (const auto& each : best_) {
    if (!each) continue;
    const Wide enough = Wide{(*densest)->load} * each->cost * limits_.few_cuts_ppm / kMillion;
    if (Wide{each->load} * (*densest)->cost >= enough) return each;
  }
  return *densest;
}

// Offers for each last token the shortest window that carries `load_wanted`.
void Search::scan(std::uint64_t load_wanted) {
  const std::size_t count = stretch_.tokens.size();
  std::size_t first = 0;
  for (std::size_t last = 0; last < count; ++last) {
    if (loads_before_[last + 1] - loads_before_[first] < load_wanted) continue;
    while (loads_before_[last + 1] - loads_before_[first + 1] >= load_wanted) ++first;
    offer_tokens(first, last);
  }
  // From either edge, as far as needed.
  const auto begin = loads_before_.begin();
  const auto prefix = std::lower_bound(begin, loads_before_.end(), load_wanted);
  if (prefix == loads_before_.end() || prefix == begin) return;
  const auto prefix_end = static_cast<std::size_t>(prefix - begin);
  offer_range({stretch_.range.first, stretch_.tokens[prefix_end - 1].token}, 0, prefix_end);
  const std::uint64_t rest = loads_before_.back() - load_wanted;
  const auto suffix = std::upper_bound(begin, loads_before_.end(), rest) - begin - 1;
  const auto suffix_begin = static_cast<std::size_t>(suffix);
  if (suffix_begin >= count) return;
  offer_range({stretch_.tokens[suffix_begin].token, stretch_.range.last}, suffix_begin, count);
}

void Search::offer_tokens(std::size_t first, std::size_t last) {
  const ring::TokenRange tight{stretch_.tokens[first].token, stretch_.tokens[last].token};
  const std::uint64_t load = loads_before_[last + 1] - loads_before_[first];
  if (load >= limits_.heavy_load || price_.keys_in(tight) >= limits_.keys_min) {
    offer_range(tight, first, last + 1);
    return;
  }
  const ring::TokenRange wide = widened(tight);
  offer_range(wide, at_or_after(wide.first), after(wide.last));
}

// `begin` to `end`: the tokens inside.
void Search::offer_range(const ring::TokenRange& range, std::size_t begin, std::size_t end) {
  CHECK(begin <= end && end < samples_before_.size());
  CHECK(stretch_.range.first <= range.first && range.last <= stretch_.range.last);
  if (samples_before_[end] - samples_before_[begin] < limits_.samples_min) return;
  const std::uint32_t boundaries = (range.first != stretch_.range.first ? 1U : 0U) +
                                   (range.last != stretch_.range.last ? 1U : 0U);
  const std::uint64_t keys = std::max<std::uint64_t>(price_.keys_in(range), end - begin);
  offer({range, loads_before_[end] - loads_before_[begin], keys, 1, boundaries});
}

void Search::offer(const Window& window) {
  if (window.load < limits_.load_min || window.load > limits_.load_max) return;
  if (window.keys > limits_.keys_max) return;
  Window priced = window;
  priced.cost = price_.bytes_in(window.range, window.keys) + price_.piece_bytes;
  std::optional<Window>& best = best_[window.boundaries];
  if (!best || priced.denser_than(*best)) best = priced;
}

// To about keys_min keys, evenly to both sides, inside the stretch.
ring::TokenRange Search::widened(const ring::TokenRange& range) const {
  if (price_.keys == 0) return stretch_.range;
  const Wide wanted = price_.width / price_.keys * limits_.keys_min;
  const Wide has = ring::width(range);
  if (wanted <= has) return range;
  const auto side = static_cast<std::uint64_t>(std::min((wanted - has) / 2, ring::kAllTokens / 2));
  const ring::TokenRange& whole = stretch_.range;
  const std::uint64_t below = range.first.value() - whole.first.value();
  const std::uint64_t above = whole.last.value() - range.last.value();
  return {Token{range.first.value() - std::min(side, below)},
          Token{range.last.value() + std::min(side, above)}};
}

std::size_t Search::at_or_after(Token token) const {
  const auto found = std::ranges::lower_bound(stretch_.tokens, token, {}, &heat::TokenLoad::token);
  return static_cast<std::size_t>(found - stretch_.tokens.begin());
}

std::size_t Search::after(Token token) const {
  const auto found = std::ranges::upper_bound(stretch_.tokens, token, {}, &heat::TokenLoad::token);
  return static_cast<std::size_t>(found - stretch_.tokens.begin());
}

}  // namespace

std::uint64_t Price::keys_in(const ring::TokenRange& range) const {
  if (stock != nullptr) return stock->keys_in(range);
  CHECK(width > 0);
  // Keys below 2^63 and widths up to 2^64: the product fits.
  return static_cast<std::uint64_t>(Wide{keys} * ring::width(range) / width);
}

std::uint64_t Price::bytes_in(const ring::TokenRange& range, std::uint64_t keys_inside) const {
  return stock != nullptr ? stock->bytes_in(range) : keys_inside * bytes_per_key;
}

std::optional<Window> densest_window(const Stretch& stretch, const Price& price,
                                     const WindowLimits& limits) {
  return Search(stretch, price, limits).run();
}

}  // namespace cleave::balance
