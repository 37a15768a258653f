#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/config/place.h"
#include "app/times.h"

namespace cleave::app {
namespace {

struct CutOptions {
  std::string at;
  std::string reason;
  std::string pin;
};

int cut(const Cli& cli, const CutOptions& options) {
  Json body;
  const auto token = as_token(options.at);
  if (!token) return cli.fail(kExitUsage, {Code::kInvalid, "--at: " + token.error().message});
  if (*token) {
    body["at"] = ring::to_hex(**token);
  } else {
    body["key"] = options.at;
  }
  if (!options.pin.empty()) {
    const Result<milliseconds> pin = parse_duration(options.pin);
    if (!pin) return cli.fail(kExitUsage, {Code::kInvalid, "--pin: " + pin.error().message});
    body["pinned_until_ms"] = SystemClock().wall_now().value() + pin->count();
  }
  if (!options.reason.empty()) body["reason"] = options.reason;
  return cli.show(cli.client().post("/cuts", body), [&](const Json&) {
    std::cout << "cut at " << options.at << "; the owner is the same, no key moves\n";
  });
}

}  // namespace

void add_cut(Cli& cli) {
  const auto options = std::make_shared<CutOptions>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "cut",
       .description = "lay a boundary: the range that ends there becomes a cut of its owner",
       .example = "cleave cut --at user:1000"},
      [&cli, options] { return cut(cli, *options); });
  command
      .add_option("--at", options->at,
                  "a key (as it is shown: \\xNN is a byte), or a token as 0x...")
      ->required();
  command.add_option("--pin", options->pin, "keep it at least so long (2h, 1d): it is not merged");
  command.add_option("--reason", options->reason, "why, for the record");
}

}  // namespace cleave::app
