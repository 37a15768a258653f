#include "route/command_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace cleave::route {
namespace {

// No command of Redis or its modules comes near; a longer name is unknown.
constexpr std::size_t kNameBytesMax = 64;

constexpr char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

}  // namespace

bool same_word(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

CommandTable::CommandTable(std::vector<CommandSpec> commands) : commands_(std::move(commands)) {
  CHECK(commands_.size() < 0xFFFF);
  CHECK(std::ranges::is_sorted(commands_, {}, &CommandSpec::name));
  for (CommandSpec& spec : commands_) {
    const Action action = spec.handling.action;
    const bool spread = action == Action::kSplit || action == Action::kEverywhere;
    CHECK(!spread || spec.handling.merge != Merge::kNone);  // the parts' replies become one
    spec.ordinal = ordinals_++;
    for (CommandSpec& sub : spec.subcommands) {
      CHECK(sub.name.size() > spec.name.size());  // "xgroup|create": `find` cuts off the first word
      sub.ordinal = ordinals_++;
    }
  }
  places_.resize(std::bit_ceil(std::max<std::size_t>(commands_.size(), 1) * 4));
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    std::size_t place = xxh3_64(commands_[i].name) & (places_.size() - 1);
    while (places_[place] != 0) place = (place + 1) & (places_.size() - 1);
    places_[place] = static_cast<std::uint16_t>(i + 1);
  }
}

const CommandSpec* CommandTable::find(std::string_view name) const {
  std::array<char, kNameBytesMax> buffer;
  if (name.size() > buffer.size()) return nullptr;
  std::ranges::transform(name, buffer.begin(), lower);
  const std::string_view word(buffer.data(), name.size());
  std::size_t place = xxh3_64(word) & (places_.size() - 1);
  for (; places_[place] != 0; place = (place + 1) & (places_.size() - 1)) {
    const CommandSpec& spec = commands_[places_[place] - 1U];
    if (spec.name == word) return &spec;
  }
  return nullptr;
}

const CommandSpec* CommandTable::find(std::span<const std::string_view> args) const {
  CHECK(!args.empty());
  const CommandSpec* spec = find(args[0]);
  if (spec == nullptr || spec->subcommands.empty() || args.size() < 2) return spec;
  for (const CommandSpec& sub : spec->subcommands) {
    if (same_word(std::string_view(sub.name).substr(spec->name.size() + 1), args[1])) return &sub;
  }
  return spec;
}

}  // namespace cleave::route
