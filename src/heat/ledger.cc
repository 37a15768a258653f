#include "heat/ledger.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::heat {
namespace {

constexpr std::size_t kKeysMax = 256;  // hot keys remembered between ticks

// Nothing that one worker counts can be above this: ten thousand cores kept busy.
constexpr std::uint64_t kLoadPerSecondMax = 10'000'000'000'000;
constexpr std::uint64_t kRequestsPerSecondMax = 1'000'000'000;
constexpr std::uint32_t kReportThinningMax = 1U << 20U;
constexpr std::size_t kReportSamplesMax = 65'536;
constexpr std::size_t kHotKeysMax = 65'536;
constexpr std::size_t kKeyBytesMax = 128;
constexpr std::uint64_t kSampledToTrueMax = 1'000;  // a sample may mislead, but not so much

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr unsigned kScaleBits = 24;

constexpr std::uint32_t kShiftTicks = 3;
constexpr std::uint64_t kShiftPpm = 50'000;  // of all load

std::uint64_t count_of(nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

std::uint64_t per_second(std::uint64_t amount, nanoseconds covered) {
  CHECK(covered > nanoseconds{0});
  return static_cast<std::uint64_t>(Wide{amount} * kSecond / count_of(covered));
}

// Whether every number could have been counted in the time the report covers.
bool sums_possible(const Report& report) {
  const Wide second_parts = count_of(report.covers) + kSecond;  // a second's grace for short ones
  Wide load = 0;
  Wide requests = 0;
  const RangeSum* before = nullptr;
  for (const RangeSum& each : report.sums) {
    if (each.range.last < each.range.first || each.writes > each.requests) return false;
    if (before != nullptr && each.range.first <= before->range.last) return false;
    load += each.weight_ns;
    requests += each.requests;
    before = &each;
  }
  return load <= second_parts * kLoadPerSecondMax / kSecond &&
         requests <= second_parts * kRequestsPerSecondMax / kSecond;
}

bool samples_possible(const Report& report) {
  if (report.thinning == 0 || report.thinning > kReportThinningMax) return false;
  if (report.samples.size() > kReportSamplesMax || report.hot_keys.size() > kHotKeysMax)
    return false;
  Wide counted = 0;
  for (const RangeSum& each : report.sums) counted += each.weight_ns;
  Wide sampled = 0;
  for (const Sample& each : report.samples) sampled += Wide{each.weight_ns} * report.thinning;
  if (sampled > counted * kSampledToTrueMax) return false;
  for (const HotKey& each : report.hot_keys) {
    if (each.error_ns > each.weight_ns || each.key.size() > kKeyBytesMax) return false;
    if (each.weight_ns > counted * kSampledToTrueMax) return false;
  }
  return true;
}

}  // namespace

void Ledger::set_view(ring::RingSnapshot view) {
  CHECK(view != nullptr);
  const std::size_t count = view->entries().size();
  if (view_ == nullptr) {
    series_.resize(count);
    view_ = std::move(view);
    return;
  }
  CHECK(series_.size() == view_->entries().size());
  std::vector<Series> series(count);
  std::map<BookId, Book> books = books_;
  for (auto& [id, book] : books) {
    book.pending.assign(count, {});
    book.rates.assign(count, {});
  }
  for (std::size_t old = 0; old < series_.size(); ++old) {
    for (const Share& share : shares(view_->entries()[old].range, *view)) {
      series[share.entry] += series_[old].part(share.fraction);
      for (auto& [id, book] : books) {
        const Book& from = books_[id];
        book.pending[share.entry] += part_of(from.pending[old], share.fraction);
        book.rates[share.entry] += part_of(from.rates[old], share.fraction);
      }
    }
  }
  series_ = std::move(series);
  books_ = std::move(books);
  view_ = std::move(view);
}

// The entries that `range` overlaps, with fractions that add up to the whole.
std::vector<Ledger::Share> Ledger::shares(const ring::TokenRange& range,
                                          const ring::RingView& view) const {
  CHECK(range.first <= range.last);
  std::vector<Share> result;
  Fraction left = kWhole;
  for (std::uint32_t at = view.find(range.first).value();; ++at) {
    CHECK(at < view.entries().size());  // the last one ends with the last token
    const ring::TokenRange& entry = view.entries()[at].range;
    if (entry.last >= range.last) {
      result.push_back({at, left});
      return result;
    }
    const ring::TokenRange piece{std::max(entry.first, range.first), entry.last};
    const Fraction fraction = std::min(left, shape_.share(piece, range));
    result.push_back({at, fraction});
    left -= fraction;
  }
}

Folded Ledger::fold(const SessionId& session, const Report& report, Instant now) {
  CHECK(view_ != nullptr);
  const BookId id{session, report.recorder};
  const Folded judged = judge(id, report);
  switch (judged) {
    case Folded::kAccepted: break;
    case Folded::kDuplicated: ++refused_.duplicated; return judged;
    case Folded::kAbsurd: ++refused_.absurd; return judged;
    case Folded::kStale: ++refused_.stale; break;
  }
  CHECK(series_.size() == view_->entries().size());
  Book& book = books_[id];
  book.pending.resize(series_.size());
  book.rates.resize(series_.size());
  book.sequence = report.sequence;
  book.heard = now;
  if (judged == Folded::kStale) return judged;
  book.covered += report.covers;
  for (const RangeSum& sum : report.sums) {
    const Amounts amounts{sum.requests, sum.writes, sum.weight_ns};
    for (const Share& share : shares(sum.range, *view_)) {
      book.pending[share.entry] += part_of(amounts, share.fraction);
    }
  }
  samples_.add(report.samples, report.thinning);
  fold_keys(report.hot_keys);
  return Folded::kAccepted;
}

Folded Ledger::judge(const BookId& id, const Report& report) const {
  if (report.covers < nanoseconds{0}) return Folded::kAbsurd;
  const auto known = books_.find(id);
  if (known != books_.end() && report.sequence <= known->second.sequence) {
    return Folded::kDuplicated;
  }
  // Before the numbers: the bounds of `sums_possible` grow with the time covered.
  if (report.covers > kCoversMax) return Folded::kStale;
  if (!sums_possible(report) || !samples_possible(report)) return Folded::kAbsurd;
  return Folded::kAccepted;
}

void Ledger::fold_keys(const std::vector<HotKey>& keys) {
  for (const HotKey& each : keys) {
    HotKeyBook& book = keys_[each.key];
    book.token = each.token;
    book.pending += each.weight_ns;
    book.pending_error += each.error_ns;
  }
}

void Ledger::forget(const SessionId& session) {
  std::erase_if(books_, [&](const auto& each) { return each.first.first == session; });
}

void Ledger::tick(Instant now) {
  const nanoseconds elapsed = now - ticked_;
  if (view_ == nullptr || elapsed <= nanoseconds{0}) return;
  tick_books(now, elapsed);
  std::vector<Amounts> rates(series_.size());
  for (const auto& [id, book] : books_) {
    CHECK(book.rates.size() == rates.size());
    for (std::size_t at = 0; at < rates.size(); ++at) rates[at] += book.rates[at];
  }
  const bool new_window = (now - began_) / Series::kWindow != (ticked_ - began_) / Series::kWindow;
  for (std::size_t at = 0; at < rates.size(); ++at) {
    if (new_window) series_[at].next_window();
    series_[at].push(rates[at], elapsed);
  }
  samples_.tick();
  if (load_shifted()) {
    for (Series& each : series_) each.keep_ticks(kShiftTicks);
    samples_.keep_ticks(kShiftTicks);
  }
  shape_ = samples_.shape();
  tick_keys(elapsed);
  ticked_ = now;
}

// Whether some node's share of all load was higher in each of the last three ticks than in each of
// those before, or lower, by a good part of all load; or there was no load before. By today's
// owners: a move is no shift.
bool Ledger::load_shifted() const {
  using Ticks = std::array<std::uint64_t, Series::kTicks>;  // newest first
  std::map<NodeId, Ticks> nodes;
  Ticks totals{};
  for (std::size_t at = 0; at < series_.size(); ++at) {
    Ticks& node = nodes[view_->entries()[at].node];
    for (std::size_t ago = 0; ago < Series::kTicks; ++ago) {
      node[ago] += series_[at].tick_load(ago);
      totals[ago] += series_[at].tick_load(ago);
    }
  }
  const auto share = [&](const Ticks& loads, std::size_t ago) {
    CHECK(totals[ago] > 0);  // there are no shares of nothing
    return static_cast<std::uint64_t>(Wide{loads[ago]} * 1'000'000 / totals[ago]);
  };
  const auto shifted = [&](const Ticks& loads) {
    std::uint64_t low = share(loads, 0);
    std::uint64_t high = low;
    for (std::size_t ago = 1; ago < kShiftTicks; ++ago) {
      low = std::min(low, share(loads, ago));
      high = std::max(high, share(loads, ago));
    }
    bool rose = true;
    bool fell = true;
    for (std::size_t ago = kShiftTicks; ago < Series::kTicks; ++ago) {
      if (totals[ago] == 0) continue;  // without load there are no shares to compare
      rose = rose && low > share(loads, ago) + kShiftPpm;
      fell = fell && high + kShiftPpm < share(loads, ago);
    }
    return rose || fell;
  };
  if (std::find(totals.begin(), totals.begin() + kShiftTicks, 0U) != totals.begin() + kShiftTicks) {
    return false;
  }
  return std::ranges::any_of(nodes, [&](const auto& each) { return shifted(each.second); });
}

void Ledger::tick_books(Instant now, nanoseconds elapsed) {
  std::erase_if(books_, [&](const auto& each) { return now - each.second.heard > kForgetAfter; });
  const Fraction faded = halved_for(elapsed, kFadeHalfLife);
  for (auto& [id, book] : books_) {
    if (book.covered > nanoseconds{0}) {
      for (std::size_t at = 0; at < book.rates.size(); ++at) {
        const Amounts& sum = book.pending[at];
        book.rates[at] = {.requests = per_second(sum.requests, book.covered),
                          .writes = per_second(sum.writes, book.covered),
                          .load = per_second(sum.load, book.covered)};
      }
      book.pending.assign(book.pending.size(), {});
      book.covered = nanoseconds{0};
    } else if (now - book.heard > kSilentAfter) {
      for (Amounts& rate : book.rates) rate = part_of(rate, faded);
    }
  }
}

void Ledger::tick_keys(nanoseconds elapsed) {
  const Fraction keep = halved_for(elapsed, kFadeHalfLife / 2);
  for (auto& [key, book] : keys_) {
    const std::uint64_t now = per_second(std::exchange(book.pending, 0), elapsed);
    const std::uint64_t error = per_second(std::exchange(book.pending_error, 0), elapsed);
    // A key seen for the first time begins with what was seen, not at a fraction of it.
    const Fraction kept = book.rate == 0 ? 0 : keep;
    book.rate = part_of(book.rate, kept) + part_of(now, kWhole - kept);
    book.error = part_of(book.error, kept) + part_of(error, kWhole - kept);
  }
  std::erase_if(keys_, [](const auto& each) { return each.second.rate == 0; });
  if (keys_.size() <= kKeysMax) return;
  std::vector<std::uint64_t> rates;
  rates.reserve(keys_.size());
  for (const auto& [key, book] : keys_) rates.push_back(book.rate);
  std::ranges::nth_element(rates, rates.begin() + kKeysMax, std::greater{});
  const std::uint64_t least = rates[kKeysMax];
  std::erase_if(keys_, [&](const auto& each) { return each.second.rate <= least; });
  CHECK(keys_.size() <= kKeysMax);
}

Picture Ledger::picture(Instant now) const {
  CHECK(view_ != nullptr);
  Picture picture;
  picture.epoch = view_->epoch();
  picture.observed = ticked_ - began_;
  picture.refused = refused_;
  add_ranges(picture);
  add_tokens(picture);
  add_keys(picture);
  for (const auto& [id, book] : books_) {
    std::uint64_t load = 0;
    for (const Amounts& rate : book.rates) load += rate.load;
    const nanoseconds age = now - book.heard;
    CHECK(age >= nanoseconds{0});
    picture.sources.push_back({.session = id.first,
                               .recorder = id.second,
                               .age = age,
                               .silent = age > kSilentAfter,
                               .load = load});
  }
  return picture;
}

void Ledger::add_ranges(Picture& picture) const {
  CHECK(series_.size() == view_->entries().size());
  std::map<NodeId, NodeLoad> nodes;
  for (const ring::Node& node : view_->document().nodes) nodes[node.id].node = node.id;
  for (std::size_t at = 0; at < series_.size(); ++at) {
    const ring::Entry& entry = view_->entries()[at];
    const RangeLoad range{.range = entry.range,
                          .node = entry.node,
                          .load = series_[at].load(),
                          .requests = series_[at].requests(),
                          .writes = series_[at].writes()};
    NodeLoad& node = nodes[entry.node];
    node.load += range.load;
    node.requests += range.requests;
    node.writes += range.writes;
    picture.ranges.push_back(range);
  }
  for (const auto& [id, node] : nodes) picture.nodes.push_back(node);
}

void Ledger::add_tokens(Picture& picture) const {
  for (const RangeLoad& range : picture.ranges) {
    const std::uint64_t sampled = shape_.load_in(range.range);
    if (sampled == 0) continue;
    // One division for the range instead of one for each token: those cost most of a tick. Loads of
    // samples stay below 2^56 and means below 2^44 (`judge`), so the product fits.
    const Wide scale = (Wide{range.load.mean} << kScaleBits) / sampled;
    for (const TokenLoad& each : shape_.tokens_in(range.range)) {
      const Wide scaled = (each.load * scale) >> kScaleBits;
      picture.tokens.push_back({each.token, static_cast<std::uint64_t>(scaled), each.samples});
    }
  }
}

void Ledger::add_keys(Picture& picture) const {
  for (const auto& [key, book] : keys_) {
    picture.keys.push_back({.key = key,
                            .token = book.token,
                            .node = view_->owner(book.token),
                            .load = book.rate,
                            .error = book.error});
  }
  std::ranges::sort(picture.keys, [](const KeyLoad& left, const KeyLoad& right) {
    return left.load != right.load ? left.load > right.load : left.key < right.key;
  });
}

}  // namespace cleave::heat
