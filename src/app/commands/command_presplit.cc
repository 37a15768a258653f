#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "app/commands/commands.h"
#include "app/config/presplit_file.h"
#include "app/text/plan_text.h"
#include "app/text/presplit_history.h"
#include "app/text/table.h"
#include "app/times.h"
#include "net/url.h"

namespace cleave::app {
namespace {

struct PresplitOptions {
  std::string file;
  bool dry_run = false;
  bool apply = false;
  bool force = false;
  bool list = false;
  std::string forget;
  bool from_history = false;
  std::string date;
  std::optional<std::uint32_t> days_ago;
  std::string hours;
  std::string scale = "1";
  std::string lead = "1h";
};

UnixMillis time_in(const Json& json, const char* field) {
  return UnixMillis{json.value(field, std::int64_t{0})};
}

// A million nanoseconds a second is a millisecond a second.
std::string load_text(std::uint64_t load_ns) { return grouped(load_ns / 1'000'000) + " ms/s"; }

void print_events(const Json& events) {
  if (events.empty()) std::cout << "nothing is expected\n";
  for (const Json& event : events) {
    std::cout << event.value("name", "") << ": " << event.value("state", "") << ", from "
              << to_text(time_in(event, "start_ms")) << " to " << to_text(time_in(event, "end_ms"))
              << ", prepared from " << to_text(time_in(event, "lead_from_ms")) << ", "
              << load_text(event.value("load_ns", std::uint64_t{0})) << " on "
              << grouped(event.value("ranges", std::uint64_t{0})) << " ranges\n";
  }
}

void print_presplit(const Json& answer) {
  print_events(answer["events"]);
  std::cout << (answer.value("dry_run", false) ? "it would take" : "announced; it takes") << " "
            << answer["moves"].size() << " moves of about "
            << grouped(answer.value("keys", std::uint64_t{0})) << " keys, "
            << grouped(answer.value("bytes", std::uint64_t{0})) << " bytes; at "
            << to_text(time_in(answer, "at_ms")) << " the hottest node is then at "
            << ratio(answer, "predicted_ppm") << " of the mean (no placement is below "
            << ratio(answer, "bound_ppm") << ")\n";
  print_plan(answer);
  const std::string mode = answer.value("mode", "");
  if (answer.value("frozen", false)) {
    std::cout << "the pool is frozen: nothing moves until `cleave resume`\n";
  } else if (mode != "auto") {
    std::cout << "mode " << mode << ": "
              << (mode == "approve" ? "it waits for you" : "nothing moves") << "\n";
  }
  for (const Json& heavy : answer["heavy"]) {
    if (heavy.value("ppm", 0) < 1'000'000) continue;
    const std::string key = heavy.value("key", "");
    std::cout << "no cut can help: " << (key.empty() ? heavy.value("token", "") : key) << " on "
              << heavy.value("node", "") << " alone is " << ratio(heavy, "ppm")
              << " times what a node should carry; cache it, or spread it over several keys\n";
  }
}

// Which day and hours the options mean.
Result<Replay> replay_of(const PresplitOptions& options, UnixMillis now) {
  Replay replay;
  if (options.date.empty() == !options.days_ago.has_value())
    return fail(Code::kInvalid, "--from-history: want either --date or --days-ago");
  if (options.days_ago) {
    const std::int64_t today = now.value() / kDayMs * kDayMs;
    replay.day = UnixMillis{today - std::int64_t{*options.days_ago} * kDayMs};
  } else {
    const Result<UnixMillis> day = parse_date(options.date);
    if (!day) return fail("--date", day.error());
    replay.day = *day;
  }
  if (const Result<void> hours = read_hours(options.hours, replay); !hours)
    return fail("--hours", hours.error());
  const Result<std::uint32_t> scale = parse_scale(options.scale);
  if (!scale) return fail("--scale", scale.error());
  replay.scale_ppm = *scale;
  const Result<milliseconds> lead = parse_duration(options.lead);
  if (!lead) return fail("--lead", lead.error());
  replay.lead = *lead;
  return replay;
}

int order(const Cli& cli, const PresplitOptions& options, const Json& events) {
  Json body = {{"events", events}, {"dry_run", options.dry_run}};
  if (options.force) body["force"] = true;
  return cli.show(cli.client().post("/presplit", body), print_presplit);
}

int replay_history(const Cli& cli, const PresplitOptions& options) {
  const UnixMillis now = SystemClock().wall_now();
  const Result<Replay> replay = replay_of(options, now);
  if (!replay) return cli.fail(kExitUsage, replay.error());
  const AdminClient::Answer history =
      cli.client().get("/heat?from=" + std::to_string(replay->from().value()) +
                       "&to=" + std::to_string(replay->until().value()) + "&leader");
  if (!history) return cli.show(history, [](const Json&) {});
  const Result<Json> events = events_of(*history, *replay, now);
  return events ? order(cli, options, *events) : cli.fail(kExitFailed, events.error());
}

int presplit(const Cli& cli, const PresplitOptions& options) {
  const int sources = (options.file.empty() ? 0 : 1) + (options.from_history ? 1 : 0) +
                      (options.list ? 1 : 0) + (options.forget.empty() ? 0 : 1);
  if (sources != 1) {
    return cli.fail(kExitUsage,
                    {Code::kInvalid, "want one of FILE, --from-history, --list and --forget NAME"});
  }
  if (options.list) {
    return cli.show(cli.client().get("/presplit"),
                    [](const Json& json) { print_events(json["events"]); });
  }
  if (!options.forget.empty()) {
    return cli.show(cli.client().remove("/presplit/" + net::encode_component(options.forget)),
                    [&](const Json&) {
                      std::cout << options.forget << " is expected no more; what was cut for it "
                                << "stays pinned until its end\n";
                    });
  }
  if (options.dry_run == options.apply)
    return cli.fail(kExitUsage, {Code::kInvalid, "want either --dry-run or --apply"});
  if (options.from_history) return replay_history(cli, options);
  const Result<Json> events = load_presplit(options.file, SystemClock().wall_now());
  return events ? order(cli, options, *events) : cli.fail(kExitUsage, events.error());
}

}  // namespace

void add_presplit(Cli& cli) {
  const auto options = std::make_shared<PresplitOptions>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "presplit",
       .description = "announce load that will come, so that it is spread before it does",
       .example = "cleave presplit sale.yaml --dry-run"},
      [&cli, options] { return presplit(cli, *options); });
  command.add_option("FILE", options->file, "events (docs/formats/presplit.md)");
  command.add_flag("--dry-run", options->dry_run, "only show what would be done");
  command.add_flag("--apply", options->apply, "announce it");
  command.add_flag("--force", options->force, "also where the pool is too small for it");
  command.add_flag("--list", options->list, "what is expected, and where it stands");
  command.add_option("--forget", options->forget, "take an event back");
  command.add_flag("--from-history", options->from_history, "expect what was recorded before");
  command.add_option("--date", options->date, "the recorded day, 2026-11-29 (UTC)");
  command.add_option("--days-ago", options->days_ago, "the recorded day, counted back from today");
  command.add_option("--hours", options->hours, "the recorded hours, 20-22 (UTC)");
  command.add_option("--scale", options->scale, "times what was recorded")->capture_default_str();
  command.add_option("--lead", options->lead, "how long before to prepare (--from-history)")
      ->capture_default_str();
}

}  // namespace cleave::app
