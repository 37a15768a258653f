// restored: a saved document on its way back into a coordinator that has lost it.
//
// Pure. Threads: values.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ring/document.h"

namespace cleave::ring {

// How a saved document comes back after the coordinator has lost it.
struct Restoration {
  std::string pool;  // its name from now on
  Epoch above;       // every number that was ever given lies below; so does its own
};

// Where copies of a move that was under way may lie: nobody owns the ranges there.
struct Copies {
  NodeId node;
  RangeSet ranges;

  friend bool operator==(const Copies&, const Copies&) = default;
};

// A document to begin a register with, and what it does not say.
struct RestoredDocument {
  Document document;
  std::vector<Copies> copies;
};

// The saved document as it may be believed: nobody is a member, nobody leads, no move is under way
// (owners stay as saved), and the pool is frozen until a person has looked. It may be older than
// what was lost, so nothing that it says of copies is acted on: where they may lie is only told.
// Errors: kInvalid.
Result<RestoredDocument> restored(const Document& saved, const Restoration& restoration);

}  // namespace cleave::ring
