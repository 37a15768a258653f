// Every command of the program. A new one is a file with `add_NAME` and a line here; one that only
// sends an order is a row in order_commands.cc and a line here.
#pragma once

#include "app/cli.h"

// In the order in which --help lists them.
#define CLEAVE_COMMANDS(OWN, ORDER) \
  OWN(up)                           \
  OWN(down)                         \
  OWN(serve)                        \
  OWN(status)                       \
  OWN(locate)                       \
  OWN(ring)                         \
  OWN(plan)                         \
  OWN(explain)                      \
  OWN(approve)                      \
  ORDER(cut)                        \
  OWN(presplit)                     \
  ORDER(move)                       \
  ORDER(merge)                      \
  ORDER(abort)                      \
  ORDER(undo)                       \
  OWN(leftovers)                    \
  ORDER(freeze)                     \
  ORDER(resume)                     \
  ORDER(downgrade)                  \
  ORDER(mode)                       \
  OWN(node)                         \
  OWN(adopt)                        \
  OWN(strays)                       \
  ORDER(flatten)                    \
  OWN(orders)                       \
  OWN(moves)                        \
  OWN(bench)                        \
  OWN(demo)                         \
  OWN(simulate)                     \
  OWN(assess)                       \
  OWN(import)                       \
  OWN(export)

namespace cleave::app {

#define CLEAVE_DECLARE(name) void add_##name(Cli& cli);
#define CLEAVE_NOTHING(name)
CLEAVE_COMMANDS(CLEAVE_DECLARE, CLEAVE_NOTHING)
#undef CLEAVE_DECLARE
#undef CLEAVE_NOTHING

// Adds them all.
void add_commands(Cli& cli);

}  // namespace cleave::app
