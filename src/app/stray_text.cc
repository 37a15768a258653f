#include "app/stray_text.h"

#include "app/table.h"
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
  if (since != UnixMillis{}) text += ", since " + to_text(since);
  return text;
}

}  // namespace cleave::app
