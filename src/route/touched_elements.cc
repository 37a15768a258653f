#include "route/touched_elements.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/check.h"
#include "route/command_table.h"

namespace cleave::route {
namespace {

using Args = std::span<const std::string_view>;
using Elements = std::vector<std::string>;

// A command that names more of them than this is rather one of the whole key.
constexpr std::size_t kElementsMax = 10'000;

// Where the elements stand.
enum class Shape : std::uint8_t {
  kSecond,      // HINCRBY key FIELD by
  kThird,       // ZINCRBY key by MEMBER
  kRest,        // SADD key MEMBER ...
  kPairs,       // HSET key FIELD value ...
  kScored,      // ZADD key [option ...] score MEMBER ...
  kFields,      // HEXPIRE key seconds [option] FIELDS n FIELD ...
  kFieldPairs,  // HSETEX key [option ...] FIELDS n FIELD value ...
};

struct Named {
  std::string_view name;
  Shape shape;
};
constexpr Named kCommands[] = {
    {"HDEL", Shape::kRest},           {"HEXPIRE", Shape::kFields},    {"HEXPIREAT", Shape::kFields},
    {"HGETDEL", Shape::kFields},      {"HGETEX", Shape::kFields},     {"HINCRBY", Shape::kSecond},
    {"HINCRBYFLOAT", Shape::kSecond}, {"HMSET", Shape::kPairs},       {"HPERSIST", Shape::kFields},
    {"HPEXPIRE", Shape::kFields},     {"HPEXPIREAT", Shape::kFields}, {"HSET", Shape::kPairs},
    {"HSETEX", Shape::kFieldPairs},   {"HSETNX", Shape::kSecond},     {"SADD", Shape::kRest},
    {"SMOVE", Shape::kThird},         {"SREM", Shape::kRest},         {"ZADD", Shape::kScored},
    {"ZINCRBY", Shape::kThird},       {"ZREM", Shape::kRest},
};

const Named* find(std::string_view name) {
  for (const Named& each : kCommands) {
    if (same_word(each.name, name)) return &each;
  }
  return nullptr;
}

// Every `step`th from `first` on.
Elements each_from(Args args, std::size_t first, std::size_t step) {
  CHECK(first > 1 && step > 0);  // behind the name and the key
  if (args.size() <= first || (args.size() - first) % step != 0) return {};
  Elements elements;
  for (std::size_t i = first; i < args.size(); i += step) elements.emplace_back(args[i]);
  return elements;
}

Elements scored(Args args) {
  constexpr std::string_view kOptions[] = {"NX", "XX", "GT", "LT", "CH", "INCR"};
  std::size_t first = 2;
  while (first < args.size() &&
         std::ranges::any_of(
             kOptions, [&](std::string_view option) { return same_word(option, args[first]); }))
    ++first;
  if ((args.size() - first) % 2 != 0) return {};
  Elements members;
  for (std::size_t i = first + 1; i < args.size(); i += 2) members.emplace_back(args[i]);
  return members;
}

// Behind FIELDS and their number; nothing may follow. No option has a value "FIELDS".
Elements fields(Args args, std::size_t step) {
  std::size_t at = 2;
  while (at < args.size() && !same_word(args[at], "FIELDS")) ++at;
  if (at + 2 >= args.size()) return {};
  const std::string_view text = args[at + 1];
  std::size_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc{} || end != text.data() + text.size()) return {};
  if (count > kElementsMax || args.size() != at + 2 + count * step) return {};
  return each_from(args, at + 2, step);
}

Elements found(Args args, Shape shape) {
  switch (shape) {
    case Shape::kSecond: return args.size() > 2 ? Elements{std::string(args[2])} : Elements{};
    case Shape::kThird: return args.size() > 3 ? Elements{std::string(args[3])} : Elements{};
    case Shape::kRest: return each_from(args, 2, 1);
    case Shape::kPairs: return each_from(args, 2, 2);
    case Shape::kScored: return scored(args);
    case Shape::kFields: return fields(args, 1);
    case Shape::kFieldPairs: return fields(args, 2);
  }
  return {};
}

}  // namespace

std::vector<std::string> touched_elements(std::span<const std::string_view> args) {
  CHECK(!args.empty());
  const Named* const command = find(args[0]);
  if (command == nullptr || args.size() > 2 * kElementsMax) return {};
  Elements elements = found(args, command->shape);
  std::ranges::sort(elements);
  const auto doubled = std::ranges::unique(elements);
  elements.erase(doubled.begin(), doubled.end());
  return elements;
}

}  // namespace cleave::route
