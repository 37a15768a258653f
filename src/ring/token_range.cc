#include "ring/token_range.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "base/check.h"
#include "base/hex.h"
#include "ring/canonical.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

// True when no token lies between the two, or some are in both. Requires: left.first is the lesser.
bool joins(const TokenRange& left, const TokenRange& right) {
  return right.first <= left.last || right.first.value() - 1 == left.last.value();
}

}  // namespace

RangeSet normalised(std::vector<TokenRange> ranges) {
  std::ranges::sort(ranges);
  RangeSet set;
  for (const TokenRange& range : ranges) {
    CHECK(range.first <= range.last);
    if (!set.empty() && joins(set.back(), range)) {
      set.back().last = std::max(set.back().last, range.last);
    } else {
      set.push_back(range);
    }
  }
  return set;
}

bool contains(const RangeSet& set, Token token) {
  const auto after = std::ranges::upper_bound(set, token, {}, &TokenRange::first);
  return after != set.begin() && std::prev(after)->contains(token);
}

bool overlap(const RangeSet& left, const RangeSet& right) {
  auto l = left.begin();
  auto r = right.begin();
  while (l != left.end() && r != right.end()) {
    if (l->overlaps(*r)) return true;
    // The one that ends first can meet nothing that comes later in the other set.
    l->last < r->last ? void(++l) : void(++r);
  }
  return false;
}

RangeSet difference(const RangeSet& left, const RangeSet& right) {
  CHECK(is_canonical(left) && is_canonical(right));
  RangeSet rest;
  auto hole = right.begin();
  for (TokenRange range : left) {
    while (hole != right.end() && hole->last < range.first) ++hole;
    bool open = true;
    for (auto at = hole; open && at != right.end() && at->overlaps(range); ++at) {
      if (range.first < at->first) rest.push_back({range.first, Token{at->first.value() - 1}});
      open = at->last < range.last;
      if (open) range.first = Token{at->last.value() + 1};
    }
    if (open) rest.push_back(range);
  }
  return rest;
}

RangeSet outside(const TokenRange& range, const RangeSet& set) {
  CHECK(range.first <= range.last);
  RangeSet rest;
  TokenRange open = range;
  for (auto at = std::ranges::lower_bound(set, range.first, {}, &TokenRange::last);
       at != set.end() && at->first <= range.last; ++at) {
    if (open.first < at->first) rest.push_back({open.first, Token{at->first.value() - 1}});
    if (at->last >= range.last) return rest;
    open.first = Token{at->last.value() + 1};
  }
  rest.push_back(open);
  return rest;
}

std::uint64_t share_ppm(const RangeSet& set) {
  Wide sum = 0;
  for (const TokenRange& range : set) sum += width(range);
  return ppm_of_all(sum);
}

std::string to_hex(Token token) {
  std::string text(16, '0');
  std::uint64_t rest = token.value();
  for (std::size_t at = text.size(); at > 0; --at, rest >>= 4U)
    text[at - 1] = kHexDigits[rest & 15U];
  return text;
}

Result<Token> parse_token(std::string_view text) {
  const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  std::uint64_t number = 0;
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  const auto [stop, failed] = std::from_chars(begin, end, number, 16);
  if (digits.empty() || digits.size() > 16 || failed != std::errc{} || stop != end) {
    return fail(Code::kInvalid,
                "token: want 1 to 16 hexadecimal digits, got '" + std::string(text) + "'");
  }
  return Token{number};
}

std::string to_string(const TokenRange& range) {
  return to_hex(range.first) + "-" + to_hex(range.last);
}

}  // namespace cleave::ring
