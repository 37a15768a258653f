// Mutations: the rules of the move protocol, each of which the simulator can switch off to prove
// that it would notice (sim/, `make sim-mutants`). A checker that no broken rule can fail is none.
//
// All false in production: only sim/ ever sets one. A mutated rule keeps its name from
// docs/formats/move-protocol.md; the table of rules, places and mutants is docs/life_of_a_split.md.
#pragma once

namespace cleave {

struct Mutations {
  bool no_purge = false;              // 13: leftovers at the destination stay
  bool no_sweep = false;              // 7, 12: connections of removed sessions stay
  bool no_copying_ack = false;        // 14: scan before the routers note writes
  bool no_fence_wait = false;         // 11: acknowledge with commands of the range under way
  bool hold_writes_only = false;      // 9: reads pass a fence
  bool mark_at_send = false;          // 10: note a write when it is sent, not when it finishes
  bool mark_after_reply = false;      // 10: note a write after its reply went to the client
  bool take_forgets = false;          // 10: a batch is gone once handed over, its reply lost or not
  bool any_phase_epoch = false;       // 4: acknowledgements and takes of another phase count
  bool leave_fence_alone = false;     // 11: a held router goes on by its own decision
  bool commit_without_acks = false;   // 20: commit whatever the members say
  bool commit_without_cas = false;    // 20: overwrite whatever epoch is there
  bool lost_is_finished = false;      // 6: a broken connection counts as finished commands
  bool no_own_kill = false;           // 8: the driver reconnects without killing its old connection
  bool no_gate_read = false;          // 5: a connection is used without the linearizable read
  bool no_incarnation_check = false;  // 19: a failover in mid-move goes unseen
  bool no_last_copy = false;          // 18: the last dirty set is not copied
  bool no_marker_check = false;       // 12: servers without this pool's marker are purged too
  bool follow_old_backup = false;     // 1: a register that went back is believed
  bool removal_keeps_moves = false;   // 2: a removal does not abort moves
  bool removed_goes_on = false;       // 2: a removed router does not stop
  bool term_keeps_moves = false;      // 3: a new leader leaves COPYING and FENCED moves alone
  bool views_go_back = false;         // 9: an older document is adopted
  bool absent_is_skipped = false;     // 15: a key that is gone at the source is not removed
  bool dump_before_take = false;      // 16: a round copies first, then empties the dirty sets
  bool members_before_fence = false;  // 17: who joined since COPYING is not waited for
  bool clean_before_commit = false;   // 21: the source is emptied before the destination owns
  bool no_clock_check = false;        // Expiry: servers whose clocks differ exchange keys
};

}  // namespace cleave
