// find_keys: key specifications carried out, as getKeysUsingKeySpecs of redis-server 7.0 does, and
// the commands that Redis itself has special functions for.
#include <optional>
#include <string>

#include "base/check.h"
#include "base/to_number.h"
#include "route/command_table.h"

namespace cleave::route {
namespace {

using Args = std::span<const std::string_view>;
using Positions = std::vector<std::uint32_t>;

std::unexpected<Error> syntax_error() { return fail(Code::kInvalid, "syntax error"); }

std::int64_t count_of(Args args) { return static_cast<std::int64_t>(args.size()); }

std::string_view at(Args args, std::int64_t position) {
  CHECK(position >= 0 && position < count_of(args));
  return args[static_cast<std::size_t>(position)];
}

// Position after the keyword, searching from `from` on; 0: it is not there. The last argument is
// no keyword, since nothing can follow it.
std::int64_t after_keyword(const KeySpec& spec, Args args, std::int64_t from) {
  const std::int64_t count = count_of(args);
  if (spec.index < 0) {  // backwards, from the end
    for (std::int64_t i = count + spec.index; i >= 1 && i < count - 1; --i) {
      if (same_word(at(args, i), spec.keyword)) return i + 1;
    }
    return 0;
  }
  for (std::int64_t i = from; i < count - 1; ++i) {
    if (same_word(at(args, i), spec.keyword)) return i + 1;
  }
  return 0;
}

// Appends first, first + step, ... up to last.
Result<void> append_range(std::int64_t first, std::int64_t last, std::int64_t step, Args args,
                          Positions& positions) {
  CHECK(step > 0);  // a table is read with no other
  if (first < 1 || last < first || last >= count_of(args)) return syntax_error();
  for (std::int64_t i = first; i <= last; i += step) {
    positions.push_back(static_cast<std::uint32_t>(i));
  }
  return {};
}

Result<void> append_counted(const KeySpec& spec, std::int64_t first, Args args,
                            Positions& positions) {
  CHECK(spec.step > 0);
  const std::int64_t place = first + spec.keynum_index;
  if (place < 1 || place >= count_of(args)) return syntax_error();
  const auto keys = to_number<std::int64_t>(at(args, place));
  if (!keys) return fail(Code::kInvalid, "value is not an integer or out of range");
  if (*keys < 0) return fail(Code::kInvalid, "Number of keys can't be negative");
  if (*keys == 0) return {};
  first += spec.first_key;
  if (first < 1 || *keys > (count_of(args) - first + spec.step - 1) / spec.step) {
    return fail(Code::kInvalid, "Number of keys can't be greater than number of args");
  }
  return append_range(first, first + (*keys - 1) * spec.step, spec.step, args, positions);
}

Result<void> append_from(const KeySpec& spec, std::int64_t first, Args args, Positions& positions) {
  if (spec.find == KeySpec::Find::kKeynum) return append_counted(spec, first, args, positions);
  CHECK(spec.limit >= 0);
  std::int64_t last = first + spec.last;
  if (spec.last < 0) {
    last = spec.limit == 0 ? count_of(args) + spec.last
                           : first + (count_of(args) - first) / spec.limit + spec.last;
  }
  return append_range(first, last, spec.step, args, positions);
}

Result<void> append_by_spec(const KeySpec& spec, Args args, Positions& positions) {
  if (spec.begin == KeySpec::Begin::kIndex) return append_from(spec, spec.index, args, positions);
  std::int64_t first = after_keyword(spec, args, spec.index);
  while (first > 0) {
    const auto appended = append_from(spec, first, args, positions);
    if (!appended) return appended;
    // Of a repeated option the server takes the last, so all of them must be known.
    const bool repeatable = spec.last == 0 && spec.find == KeySpec::Find::kRange && spec.index > 0;
    first = repeatable ? after_keyword(spec, args, first + 1) : 0;
  }
  return {};
}

// SORT key [BY pattern] [LIMIT a b] [GET pattern ...] [ASC|DESC] [ALPHA] [STORE key]
Result<void> append_sort(Args args, Positions& positions) {
  positions.push_back(1);
  std::uint32_t store = 0;
  for (std::size_t i = 2; i < args.size(); ++i) {
    const std::size_t left = args.size() - i - 1;
    const bool pattern = same_word(args[i], "by") || same_word(args[i], "get");
    if (same_word(args[i], "asc") || same_word(args[i], "desc") || same_word(args[i], "alpha")) {
      continue;
    }
    if (same_word(args[i], "limit") && left >= 2) {
      i += 2;
    } else if (pattern && left >= 1) {
      // Without a star it looks at no other key ("BY nosort", "GET #").
      if (args[++i].find('*') != std::string_view::npos) {
        return fail(Code::kNotFound, "BY and GET patterns read keys that may be on other servers");
      }
    } else if (same_word(args[i], "store") && left >= 1) {
      store = static_cast<std::uint32_t>(++i);
    } else {
      return syntax_error();
    }
  }
  if (store != 0) positions.push_back(store);
  return {};
}

// XREAD, XREADGROUP: "streams" may also be the name of a group, a consumer or a key, so the options
// before it are stepped over as the server does.
Result<void> append_streams(Args args, Positions& positions) {
  std::size_t i = 1;
  while (i < args.size() && !same_word(args[i], "streams")) {
    if (same_word(args[i], "block") || same_word(args[i], "count")) {
      i += 2;
    } else if (same_word(args[i], "group")) {
      i += 3;
    } else if (same_word(args[i], "noack")) {
      i += 1;
    } else {
      return syntax_error();
    }
  }
  const std::size_t left = i < args.size() ? args.size() - i - 1 : 0;
  if (left == 0 || left % 2 != 0) return syntax_error();
  for (std::size_t key = 1; key <= left / 2; ++key) {
    positions.push_back(static_cast<std::uint32_t>(i + key));
  }
  return {};
}

}  // namespace

Result<void> find_keys(const CommandSpec& spec, std::span<const std::string_view> args,
                       std::vector<std::uint32_t>& positions) {
  if (spec.handling.special == Special::kSort) return append_sort(args, positions);
  if (spec.handling.special == Special::kStreams) return append_streams(args, positions);
  if (spec.keys_unknown) return fail(Code::kNotFound, "its keys cannot be known");
  for (const KeySpec& keys : spec.keys) {
    const auto appended = append_by_spec(keys, args, positions);
    if (!appended) return appended;
  }
  return {};
}

}  // namespace cleave::route
