#include "app/config/presplit_file.h"

#include <utility>

#include "app/config/place.h"
#include "app/config/yaml_walk.h"
#include "app/files.h"
#include "app/times.h"
#include "control/orders/presplit.h"

namespace cleave::app {
namespace {

UnixMillis read_time(Section& section, const std::string& key, UnixMillis now) {
  const std::string text = section.text(key);
  const Result<UnixMillis> time = parse_time(text, now);
  if (!time) section.fail(key, time.error().message);
  return time.value_or(UnixMillis{});
}

milliseconds read_duration(Section& section, const std::string& key) {
  const Result<milliseconds> duration = parse_duration(section.text(key));
  if (!duration) section.fail(key, duration.error().message);
  return duration.value_or(milliseconds{0});
}

void read_selectors(Section& section, Json& demand) {
  for (const char* wrong : {"prefix", "glob", "pattern"}) {
    if (!section.has(wrong)) continue;
    section.fail(wrong,
                 "keys lie on the ring by their hash, so those of a prefix or pattern are spread "
                 "over all of it; name keys, hash tags or token ranges");
  }
  const std::vector<std::string> keys = section.texts("keys");
  const std::vector<std::string> tags = section.texts("tags");
  Json ranges = Json::array();
  for (const std::string& text : section.texts("ranges")) {
    const Result<ring::TokenRange> range = parse_range(text);
    if (!range) section.fail("ranges", range.error().message);
    if (range) {
      ranges.push_back(
          {{"first", ring::to_hex(range->first)}, {"last", ring::to_hex(range->last)}});
    }
  }
  if (!keys.empty()) demand["keys"] = keys;
  if (!tags.empty()) demand["tags"] = tags;
  if (!ranges.empty()) demand["ranges"] = std::move(ranges);
  if (demand.empty()) section.fail("keys", "want keys, tags or ranges");
}

Json read_demand(Section& section) {
  Json demand = Json::object();
  read_selectors(section, demand);
  if (section.has("rate") == section.has("load_ns")) {
    section.fail("rate", "want either rate (requests a second) or load_ns");
  }
  const std::uint64_t rate = section.number("rate", {.fallback = 0, .max = control::kRequestsMax});
  const std::uint64_t load =
      section.number("load_ns", {.fallback = 0, .max = ring::kExpectedLoadMax});
  const std::uint64_t bytes =
      section.number("bytes", {.fallback = 0, .max = control::kValueBytesMax});
  const std::string command = section.text("command", "");
  if (section.has("rate")) demand["rate"] = rate;
  if (section.has("load_ns")) demand["load_ns"] = load;
  if (bytes > 0) demand["bytes"] = bytes;
  if (!command.empty()) demand["command"] = command;
  section.finish();
  return demand;
}

Json read_event(Section& section, UnixMillis now) {
  Json event = {{"name", section.text("name")}};
  const UnixMillis start = read_time(section, "start", now);
  if (section.has("end") == section.has("for")) {
    section.fail("end", "want either end (a time) or for (a duration)");
  }
  const UnixMillis end = section.has("for")
                             ? UnixMillis{start.value() + read_duration(section, "for").count()}
                             : read_time(section, "end", now);
  if (end <= start) section.fail("end", "the event ends before it starts");
  event["start_ms"] = start.value();
  event["end_ms"] = end.value();
  if (section.has("lead")) {
    const milliseconds lead = read_duration(section, "lead");
    event["lead_from_ms"] = std::max<std::int64_t>(start.value() - lead.count(), 0);
  }
  Json expect = Json::array();
  for (Section& element : section.list("expect")) expect.push_back(read_demand(element));
  if (expect.empty()) section.fail("expect", "want a list: [{keys: [...], rate: ...}]");
  event["expect"] = std::move(expect);
  section.finish();
  return event;
}

Result<Json> read_events(const YAML::Node& document, Walk& walk, UnixMillis now) {
  Section root(walk, document, "");
  Json events = Json::array();
  for (Section& section : root.list("events")) events.push_back(read_event(section, now));
  if (events.empty()) root.fail("events", "want a list: [{name: ..., start: ..., ...}]");
  root.finish();
  if (walk.failed()) return std::unexpected(walk.error());
  return events;
}

}  // namespace

Result<Json> parse_presplit(std::string_view text, const std::string& file, UnixMillis now) {
  return read_yaml(text, file, [now](const YAML::Node& document, Walk& walk) {
    return read_events(document, walk, now);
  });
}

Result<Json> load_presplit(const std::string& file, UnixMillis now) {
  const Result<std::string> text = read_file(file);
  return text ? parse_presplit(*text, file, now) : std::unexpected(text.error());
}

}  // namespace cleave::app
