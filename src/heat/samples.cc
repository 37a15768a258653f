#include "heat/samples.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/wide.h"
#include "ring/width.h"

namespace cleave::heat {
namespace {

constexpr std::uint64_t kSamplesEnough = 32;

// Sorts and adds up what belongs to one token.
void join(std::vector<TokenLoad>& tokens) {
  std::ranges::sort(tokens, {}, &TokenLoad::token);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (kept > 0 && tokens[kept - 1].token == tokens[at].token) {
      tokens[kept - 1].load += tokens[at].load;
      tokens[kept - 1].samples += tokens[at].samples;
    } else {
      tokens[kept++] = tokens[at];
    }
  }
  tokens.resize(kept);
}

// Both sorted, each token once; so is the result.
std::vector<TokenLoad> merged_runs(const std::vector<TokenLoad>& left,
                                   const std::vector<TokenLoad>& right) {
  std::vector<TokenLoad> result;
  result.reserve(left.size() + right.size());
  auto other = right.begin();
  for (const TokenLoad& each : left) {
    while (other != right.end() && other->token < each.token) result.push_back(*other++);
    result.push_back(each);
    if (other == right.end() || other->token != each.token) continue;
    result.back().load += other->load;
    result.back().samples += other->samples;
    ++other;
  }
  result.insert(result.end(), other, right.end());
  return result;
}

// Keeps each `step`th token, which takes over the load of those dropped before it: the total stays,
// and so does the shape down to `step` tokens. Only tokens without weight of their own are joined:
// a hot one stays where it is.
void coarsen(std::vector<TokenLoad>& tokens, std::size_t count_max) {
  CHECK(count_max > 0);
  if (tokens.size() <= count_max) return;
  const std::size_t step = (tokens.size() + count_max - 1) / count_max;
  Wide total = 0;
  for (const TokenLoad& each : tokens) total += each.load;
  const auto heavy = static_cast<std::uint64_t>(total / count_max);
  std::size_t kept = 0;
  TokenLoad dropped;
  std::size_t dropped_count = 0;
  for (TokenLoad& each : tokens) {
    if (each.load < heavy && dropped_count + 1 < step) {
      dropped.load += each.load;
      dropped.samples += each.samples;
      ++dropped_count;
      continue;
    }
    each.load += std::exchange(dropped.load, 0);
    each.samples += std::exchange(dropped.samples, 0);
    dropped_count = 0;
    tokens[kept++] = each;
  }
  if (kept > 0) {
    tokens[kept - 1].load += dropped.load;
    tokens[kept - 1].samples += dropped.samples;
  }
  tokens.resize(kept);
}

}  // namespace

Shape::Shape(std::vector<TokenLoad> tokens) : tokens_(std::move(tokens)) {
  CHECK(std::ranges::adjacent_find(tokens_, std::greater_equal{}, &TokenLoad::token) ==
        tokens_.end());
  loads_before_.reserve(tokens_.size() + 1);
  samples_before_.reserve(tokens_.size() + 1);
  loads_before_.push_back(0);
  samples_before_.push_back(0);
  for (const TokenLoad& each : tokens_) {
    loads_before_.push_back(loads_before_.back() + each.load);
    samples_before_.push_back(samples_before_.back() + each.samples);
  }
}

std::size_t Shape::at(Token token) const {
  const auto found = std::ranges::lower_bound(tokens_, token, {}, &TokenLoad::token);
  return static_cast<std::size_t>(found - tokens_.begin());
}

std::span<const TokenLoad> Shape::tokens_in(const ring::TokenRange& range) const {
  CHECK(range.first <= range.last);  // else the end lies before the begin
  const std::size_t begin = at(range.first);
  const std::size_t end =
      range.last == ring::kLastToken ? tokens_.size() : at(Token{range.last.value() + 1});
  return std::span(tokens_).subspan(begin, end - begin);
}

std::uint64_t Shape::load_in(const ring::TokenRange& range) const {
  const auto inside = tokens_in(range);
  if (inside.empty()) return 0;
  const auto begin = static_cast<std::size_t>(inside.data() - tokens_.data());
  return loads_before_[begin + inside.size()] - loads_before_[begin];
}

std::uint64_t Shape::samples_in(const ring::TokenRange& range) const {
  const auto inside = tokens_in(range);
  if (inside.empty()) return 0;
  const auto begin = static_cast<std::size_t>(inside.data() - tokens_.data());
  return samples_before_[begin + inside.size()] - samples_before_[begin];
}

Fraction Shape::share(const ring::TokenRange& piece, const ring::TokenRange& whole) const {
  CHECK(whole.first <= piece.first && piece.last <= whole.last);
  if (piece == whole) return kWhole;
  if (samples_in(whole) >= kSamplesEnough) {
    const std::uint64_t all = load_in(whole);
    CHECK(load_in(piece) <= all);
    if (all > 0) return static_cast<Fraction>((Wide{load_in(piece)} << 32U) / all);
  }
  // Widths go up to 2^64: take 32 bits off both, so that the product fits.
  const Wide wide = ring::width(whole);
  const Wide narrow = ring::width(piece);
  if (wide >> 32U == 0) return static_cast<Fraction>((narrow << 32U) / wide);
  return static_cast<Fraction>(std::min(Wide{kWhole}, narrow / (wide >> 32U)));
}

void SampleBook::add(std::span<const Sample> samples, std::uint32_t thinning) {
  CHECK(thinning > 0);
  for (const Sample& each : samples) {
    open_.push_back({each.token, std::uint64_t{each.weight_ns} * thinning, 1});
  }
  // More than a few workers' worth: joined early, so that memory stays bounded within a tick too.
  if (open_.size() > 4 * kTokensPerTick) {
    join(open_);
    coarsen(open_, kTokensPerTick);
  }
}

void SampleBook::tick() {
  join(open_);
  coarsen(open_, kTokensPerTick);
  closed_.push_front(std::exchange(open_, {}));
  if (closed_.size() > kTicks) closed_.pop_back();
}

Shape SampleBook::shape() const {
  // The ticks are sorted already: merging them two by two is several times cheaper than a sort.
  std::vector<std::vector<TokenLoad>> runs;
  CHECK(closed_.size() <= kTicks);  // the oldest still has a weight
  std::uint64_t weight = kTicks;
  for (const std::vector<TokenLoad>& tick : closed_) {
    std::vector<TokenLoad>& run = runs.emplace_back(tick);
    for (TokenLoad& each : run) each.load *= weight;
    --weight;
  }
  while (runs.size() > 1) {
    std::vector<std::vector<TokenLoad>> merged;
    for (std::size_t at = 0; at + 1 < runs.size(); at += 2) {
      merged.push_back(merged_runs(runs[at], runs[at + 1]));
    }
    if (runs.size() % 2 == 1) merged.push_back(std::move(runs.back()));
    runs = std::move(merged);
  }
  return runs.empty() ? Shape() : Shape(std::move(runs.front()));
}

}  // namespace cleave::heat
