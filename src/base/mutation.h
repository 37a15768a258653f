// Mutations: the rules of the move protocol, each of which the simulator can switch off to prove
// that it would notice (sim/, `make sim-mutants`). A checker that no broken rule can fail is none.
//
// All false in production: only sim/ ever sets one. A mutated rule keeps its name from
// docs/formats/move-protocol.md; the table of rules, places and mutants is docs/life_of_a_split.md.
#pragma once

namespace cleave {

struct Mutations {
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
  bool begin_over_leftovers = false;  // 12: a move begins where copies of another may lie
  bool no_check = false;              // 13: foreign keys at the destination do not stop a move
  bool enter_before_check = false;    // 13: the entry is made before the destination was looked at
  bool enter_late = false;            // 13: the entry is made after the first copies
  bool commit_keeps_entry = false;    // 20: the destination's entry stays
  bool commit_no_entry = false;       // 20: the source gets no entry
  bool abort_drops_entry = false;     // 22: an abort takes the destination's entry off
  bool no_cleaning = false;           // 23: entries are not cleaned
  bool clean_own_only = false;        // 3, 23: a new leader leaves the entries of older ones alone
  bool clean_no_sweep = false;        // 23 b: older leaders' commands may still run
  bool drop_early = false;            // 23 d: the entry is off before the replies are in
  bool no_holder_check = false;       // 23 e: cleaned although the destination lost its data
  bool clean_unjudged = false;        // 23 e: deleted before the document says that it is begun
  bool clean_any_server = false;      // 23 f: cleaned whichever server is at the address now
  bool take_back_no_fence = false;    // 26: the owner changes while routers still write
  bool take_back_no_entry = false;    // 26: the node that gives back keeps its copies for ever
  bool take_back_keeps_entry = false;  // 26: what was taken back is cleaned all the same
  bool flush_no_mark = false;          // 24: a flush leaves the dirty sets as they are
  bool flush_no_hold = false;          // 24: a flush is sent while a range is fenced
  bool flush_parts_apart = false;      // 24: its parts go one after another, uncounted until sent
  bool no_clock_check = false;         // Expiry: servers whose clocks differ exchange keys
  bool element_mark_lost = false;      // 27: of several elements of one write one is not marked
  bool removed_element_stays = false;  // 27: an element that is gone at the source is skipped
  bool no_last_elements = false;       // 27, 18: elements of the last sets are not copied
  bool element_hides_key = false;      // 27: a mark of an element replaces that of its key
  bool new_ring_anyway = false;        // a first ring is made over servers that belong to one
  // Laws of the balancer.
  bool strangers_ignored = false;  // plans touch nodes that are written to past the routers
  bool marker_unread = false;      // nodes are said to lack the marker that they carry

  // Whether one that bends an edit of the document is on (migrate/mutants.cc).
  bool any_of_edits() const {
    return begin_over_leftovers || commit_keeps_entry || commit_no_entry || abort_drops_entry ||
           take_back_no_fence || take_back_no_entry || take_back_keeps_entry;
  }
};

}  // namespace cleave
