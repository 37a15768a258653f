#include "app/text/stray_text.h"

#include "app/text/table.h"
#include "app/times.h"

namespace cleave::app {
namespace {

std::string first_example(const Json& examples) {
  if (examples.empty()) return "";
  const Json& first = examples.front();
  return ", e.g. \"" + first.value("key", "") + "\" (it looks at " + first.value("owner", "?") +
         ")";
}

}  // namespace

std::string stray_text(const Json& strays) {
  const bool whole = strays.value("whole", false);
  std::string text = grouped(strays.value("seen", std::uint64_t{0})) + " of " +
                     grouped(strays.value("keys_looked", std::uint64_t{0})) + " keys " +
                     (whole ? "" : "that were looked at ") + "(" +
                     percent(strays.value("share_ppm", std::uint64_t{0}));
  if (!whole) text += " +- " + percent(strays.value("error_ppm", std::uint64_t{0}));
  text += ") are not where the ring looks";
  if (strays.contains("examples")) text += first_example(strays["examples"]);
  const UnixMillis since{strays.value("since_ms", std::int64_t{0})};
  // A router of before does not say whether it knows.
  const bool exact = strays.value("since_exact", true);
  if (since != UnixMillis{}) text += ", since " + to_text(since) + (exact ? "" : " or earlier");
  return text;
}

std::string fit_text(const Json& fit) {
  std::string options;
  for (const auto& [option, value] : fit["scheme_options"].items())
    options += ", " + option + ": " + value.get<std::string>();
  return "of " + grouped(fit["keys"]) + " keys that were tried, all but " +
         grouped(fit["elsewhere"]) + " are where this ring would look,\nnodes hashed by " +
         fit.value("hashed", "") + ":\n  ring: {scheme: " + fit.value("scheme", "") + options + "}";
}

std::string script_rule() {
  return "Scripts must name every key that they touch (or share a {tag} with one that they "
         "name):\nothers are not found through a router, and stay behind in a move.";
}

std::string scripts_text(const Json& scripts) {
  if (!scripts.is_array() || scripts.empty()) return "";
  std::string text = "scripts or functions were run here since the server's start: ";
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const std::uint64_t calls = scripts[i].value("calls", std::uint64_t{0});
    text += (i == 0 ? "" : ", ") + scripts[i].value("command", "") +
            (calls == 1 ? " once" : " " + grouped(calls) + " times");
  }
  return text;
}

}  // namespace cleave::app
