// BeginOptions: how a pool begins where there is no ring yet.
//
// Threads: values.
#pragma once

#include <string>

#include "ring/edits/edits.h"

namespace cleave::control {

// What a person is told beside what was found.
struct RingPlaces {
  std::string coordinator;  // where the ring was looked for: "the file /data/cleave.db"
  std::string saved;        // where saved rings lie; empty: nowhere
};

struct BeginOptions {
  ring::Creation creation;  // seeds the document
  RingPlaces places{.coordinator = "the coordinator", .saved = {}};
};

}  // namespace cleave::control
