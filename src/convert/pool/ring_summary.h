// What an export must know of a ring, whoever tells it: its document, a router by /status, a
// configuration file. One way leads on from here.
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convert/pool/pool.h"
#include "ring/document/document.h"

namespace cleave::convert {

struct RingSummary {
  std::string pool;
  ring::SchemeSpec scheme;
  std::vector<ring::Node> nodes;  // in the order of their ids
  std::size_t cuts = 0;
  std::size_t moves = 0;

  friend bool operator==(const RingSummary&, const RingSummary&) = default;
};

RingSummary summary_of(const ring::Document& document);

// The pool as another proxy would know it: active nodes, each at the position that the ring has it
// at, and the scheme; cuts, moves and nodes that drain have no counterpart (check_exportable in
// export.h). Not known here: listener, kind, passwords. Requires: a member in each node.
Pool pool_of(const RingSummary& ring);

}  // namespace cleave::convert
