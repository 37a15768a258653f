#include "control/observe/info_facts.h"

#include <algorithm>
#include <array>

#include "backend/commands.h"
#include "heat/cost.h"

namespace cleave::control {
namespace {

// The number behind `name` in a line; 0 where it is not there.
std::uint64_t number_behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return 0;
  return static_cast<std::uint64_t>(backend::to_number(line.substr(at + name.size())));
}

}  // namespace

std::vector<OtherDatabase> other_databases(std::string_view keyspace) {
  std::vector<OtherDatabase> all;
  while (!keyspace.empty()) {
    const std::string_view line = keyspace.substr(0, keyspace.find('\n'));
    keyspace.remove_prefix(std::min(keyspace.size(), line.size() + 1));
    if (!line.starts_with("db")) continue;
    const auto number = static_cast<std::uint32_t>(number_behind(line, "db"));
    const std::uint64_t keys = number_behind(line, ":keys=");
    if (number > 0 && keys > 0) all.push_back({.number = number, .keys = keys});
  }
  return all;
}

std::vector<ScriptCalls> script_calls(std::string_view command_stats) {
  // Those ending in _ro write nothing.
  constexpr std::array<std::string_view, 3> kNames = {"eval", "evalsha", "fcall"};
  std::vector<ScriptCalls> all;
  const Result<heat::CommandStats> stats = heat::parse_commandstats(command_stats);
  if (!stats) return all;
  for (const std::string_view name : kNames) {
    const auto found = stats->find(name);
    if (found == stats->end() || found->second.calls == 0) continue;
    all.push_back({.command = std::string(name), .calls = found->second.calls});
  }
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
