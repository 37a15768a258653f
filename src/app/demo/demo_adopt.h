// `cleave demo adopt`: a real twemproxy over real redis-servers is replaced by cleave under
// verified load, and replaced back.
//
//   clients --> twemproxy --> servers          its own configuration
//   clients --> cleave    --> servers          the same, imported; a cut is laid and taken back
//   clients --> twemproxy --> servers          the configuration that cleave exported
//
// Before and after each change every key of every server is listed: none may have changed its
// server, and none may be on two.
//
// Threads: the main thread; the load generator has one of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/admin_client.h"
#include "app/demo/demo_run.h"
#include "base/result.h"
#include "loadgen/report.h"

namespace cleave::app {

// What the clients saw of one proxy.
struct AdoptStage {
  std::string proxy;  // "twemproxy", "cleave", "twemproxy again"
  std::uint64_t operations = 0;
  double seconds = 0;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
};

// What was seen.
struct AdoptResult {
  std::vector<AdoptStage> stages;
  std::uint64_t keys_checked = 0;  // on the servers at the last look
  std::uint64_t keys_moved = 0;    // found on another server than before, over all looks
  std::uint64_t keys_twice = 0;    // on two servers, likewise
  std::string refusal;             // of the export while there was a cut
  std::string exported;            // twemproxy's configuration
  loadgen::Report load;

  // Nothing moved, nothing lost, no request failed, and the export was refused while it had to be.
  bool good() const;
};

// Errors: kNotFound when twemproxy is not installed; whatever keeps it from running at all.
Result<AdoptResult> demo_adopt(const DemoOptions& options);

Json to_json(const AdoptResult& result);
std::string to_text(const AdoptResult& result);

}  // namespace cleave::app
