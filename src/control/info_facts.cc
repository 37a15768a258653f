#include "control/info_facts.h"

#include <algorithm>
#include <array>

#include "backend/commands.h"

namespace cleave::control {
namespace {

// The number behind `name` in a line; 0 where it is not there.
std::uint64_t number_behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return 0;
  return static_cast<std::uint64_t>(backend::to_number(line.substr(at + name.size())));
}

template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    take(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<OtherDatabase> other_databases(std::string_view keyspace) {
  std::vector<OtherDatabase> all;
  for_each_line(keyspace, [&](std::string_view line) {
    if (!line.starts_with("db")) return;
    const auto number = static_cast<std::uint32_t>(number_behind(line, "db"));
    const std::uint64_t keys = number_behind(line, ":keys=");
    if (number > 0 && keys > 0) all.push_back({.number = number, .keys = keys});
  });
  return all;
}

std::vector<ScriptCalls> script_calls(std::string_view command_stats) {
  // Those ending in _ro write nothing.
  constexpr std::array<std::string_view, 3> kNames = {"eval", "evalsha", "fcall"};
  constexpr std::string_view kPrefix = "cmdstat_";
  std::vector<ScriptCalls> all;
  for_each_line(command_stats, [&](std::string_view line) {
    if (!line.starts_with(kPrefix)) return;
    const std::string_view name =
        line.substr(kPrefix.size(), line.find(':') - std::min(line.find(':'), kPrefix.size()));
    if (std::ranges::find(kNames, name) == kNames.end()) return;
    const std::uint64_t calls = number_behind(line, ":calls=");
    if (calls > 0) all.push_back({.command = std::string(name), .calls = calls});
  });
  return all;
}

std::string describe(std::span<const OtherDatabase> databases) {
  std::string text;
  for (const OtherDatabase& each : databases) {
    text += (text.empty() ? "database " : ", database ") + std::to_string(each.number) + " (" +
            std::to_string(each.keys) + (each.keys == 1 ? " key)" : " keys)");
  }
  return text;
}

std::string describe(std::span<const ScriptCalls> scripts) {
  std::string text;
  for (const ScriptCalls& each : scripts) {
    text += (text.empty() ? "" : ", ") + each.command +
            (each.calls == 1 ? " once" : " " + std::to_string(each.calls) + " times");
  }
  return text;
}

}  // namespace cleave::control
