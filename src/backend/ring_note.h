// RingNote: what a server knows of the ring that it serves, in a hidden key beside the ownership
// marker. The marker says whose the server is; the note says for whom a person should look when the
// coordinator has forgotten: which pool, as which node, until which epoch. And it gives the server
// an id of its own, which its data carries with it, so that what is remembered of a server is not
// taken for true of another one at the same address.
//
//   cleave:{ring} = "pool main\nring 5f0c..\nnode a\nserver 77ab..\nepoch 42\nadopted 176..\n.."
//
// Lines of text, "name value", so that a person can read them; unknown ones are passed over.
//
// Pure. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"

namespace cleave::backend {

// All empty: there is no note.
struct RingNote {
  std::string pool;
  std::string ring;    // the marker's value when it was written: the ring's own name
  std::string node;    // the server's name in that ring
  std::string server;  // random, made once; stays through another adoption
  Epoch epoch;         // of the ring document, at most an hour old while a router leads
  UnixMillis adopted;  // when the server was marked for that ring
  UnixMillis written;

  friend bool operator==(const RingNote&, const RingNote&) = default;
};

// Requires: names without control characters, as in a ring document.
std::string to_text(const RingNote& note);

// Total: what cannot be read stays empty.
RingNote parse_ring_note(std::string_view text);

}  // namespace cleave::backend
