// Every number of the balancer in one place, with its unit and its reason. Integers only; all of
// them may be set. "ppm of fair" compares a node's load with its fair share of all load:
// 1'000'000 = exactly its share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace cleave::balance {

struct Constants {
  // ---- when to act --------------------------------------------------------------------------
  // Below 1.5 x the mean nobody notices; CockroachDB and PD act at 1.1 and had to add brakes.
  std::uint32_t hot_ppm = 1'500'000;
  std::uint32_t hot_mean_ppm = 1'300'000;  // and the 10 s mean agrees: no single spike acts
  std::uint32_t hot_ticks = 3;             // hot in so many ...
  std::uint32_t hot_ticks_of = 5;          // ... of the last so many ticks (at most 8)
  // What is hot every day at this hour is no accident: above it by so much, the fast trigger acts.
  // Less is levelled by the slow one, or the same keys would be thrown to and fro each day.
  std::uint32_t unusual_ppm = 1'150'000;
  // Relative rules alone thrash where there is next to no load (tikv/pd issue 11135).
  std::uint32_t hot_capacity_ppm = 50'000;      // above the mean by so much of its capacity
  std::uint32_t urgent_capacity_ppm = 900'000;  // so full: acts at once
  std::uint32_t slow_ppm = 1'090'000;           // so much for `slow_after`: acts with little budget
  milliseconds slow_after{300'000};
  milliseconds cheap_after{20'000};  // acts, where it costs next to nothing: is the load of ...
  std::uint32_t cheap_seconds = 10;  // ... so long what the copies and the scan cost the servers
  std::uint64_t move_ns_per_key = 50'000;  // both servers' time for a copy; measured 20 to 50 us
  // The goals are 1.10 x the mean or 1.05 x what no cut can better; what is seen is an estimate, so
  // work goes on to a little below them: by two standard errors, within these (goal.h).
  std::uint32_t goal_ppm = 1'100'000;
  std::uint32_t stop_errors = 2;
  std::uint32_t stop_ppm = 1'090'000;
  std::uint32_t stop_least_ppm = 1'070'000;
  std::uint32_t stop_bound_ppm = 1'012'000;
  std::uint32_t near_bound_ppm = 1'045'000;  // so near the bound no crumbs move: estimates are no
                                             // better, and it would never end
  // Work that was begun goes on to this where it costs next to nothing, and ends after so many
  // plans that find nothing more of that kind.
  std::uint32_t polish_stop_ppm = 1'045'000;
  std::uint32_t polish_sink_ppm = 1'035'000;
  std::uint32_t polish_plans = 3;
  std::uint32_t slow_capacity_ppm = 10'000;  // and above the mean by so much of its capacity
  std::uint32_t calm_capacity_ppm = 2'000;   // above the mean by less of it: good too

  // ---- how much -----------------------------------------------------------------------------
  std::uint32_t sink_ppm = 5'000;             // sources sink so far below the stop, no further
  std::uint32_t fill_ppm = 1'040'000;         // destinations rise to it: they keep a margin
  std::uint32_t bound_slack_ppm = 1'006'000;  // sources sink to this times the bound
  std::uint32_t unseen_ppm = 1'100'000;       // a piece may cost so much more than it seems
  std::uint32_t piece_over_ppm = 1'050'000;   // of the amount wanted, the most a piece may carry
  std::uint32_t piece_min_ppm = 2'000;        // of fair: a smaller window is not worth a cut
  std::uint32_t gain_min_ppm = 10'000;        // of fair: a smaller move is not worth its risk ...
  std::uint32_t gain_excess_ppm = 100'000;    // ... unless it is so much of what is too much
  // A token too heavy for its node may go to a node with so much more capacity, where it must lie
  // lower by so much: so it can never want to go back.
  std::uint32_t larger_ppm = 1'250'000;
  std::uint32_t larger_gain_ppm = 100'000;
  std::uint32_t flaps_max = 6;  // each earlier flap of its tokens doubles what a move must gain,
                                // so often at most: 64 x 1 % is more than any piece carries

  // ---- which piece --------------------------------------------------------------------------
  std::size_t pieces_max = 64;           // of one move: one scan of the source serves all
  std::uint64_t pieces_usual = 256;      // a move's budget should reach for four times so many
  std::uint32_t few_cuts_ppm = 800'000;  // fewer new boundaries win at so much of the density
  std::uint64_t piece_bytes = 65'536;    // what a piece costs beside its bytes
  std::uint64_t piece_keys_min = 32;     // no salami (tikv issue 9255), heavy tokens excepted
  std::uint32_t piece_samples_min = 10;  // fewer say nothing
  std::uint32_t heavy_ppm = 100'000;     // of fair: a token that is published as heavy
  std::uint32_t single_ppm = 2'000;  // of fair: tokens with so much are worth a cut of their own

  // ---- what it may cost ---------------------------------------------------------------------
  std::uint32_t plan_keys_ppm = 10'000;   // of all keys, one plan (Slicer: 1 %)
  std::uint32_t hour_keys_ppm = 100'000;  // one hour (Slicer: 9 %)
  // While a node is far above the mean, or almost full: two hot keys with a fifth of the load each
  // leave their nodes no room for anything else, and half of that must not wait for the next hour.
  std::uint32_t urgent_hour_keys_ppm = 250'000;
  std::uint64_t plan_keys_min = 64;       // so that small pools can be helped at all
  std::uint32_t slow_divisor = 10;        // of both, for the slow trigger
  std::uint64_t scan_ns_per_key = 1'000;  // of the source's main thread, for all of its keys
  std::uint32_t worth_seconds = 1'800;    // a move must pay for its scan within this: load that is
                                          // hot for ten seconds is often so for an hour
  std::uint32_t cuts_per_node = 64;       // on average
  std::uint32_t cuts_max = 10'000;        // a pool
  std::uint32_t moves_out_max = 1;        // at once, a node
  std::uint32_t moves_in_max = 1;
  std::uint32_t memory_ppm = 1'300'000;  // of a piece's bytes must be free at its destination

  // ---- calm ---------------------------------------------------------------------------------
  milliseconds recut_after{60'000};    // the rest of a range that was cut
  milliseconds dwell{600'000};         // a piece stays where it was put
  milliseconds back_after{3'600'000};  // before going back; doubles with each return
  milliseconds back_max{86'400'000};
  milliseconds failed_after{10'000};  // after an aborted move of this pair; doubles
  milliseconds failed_max{600'000};
  std::uint32_t helped_ppm = 250'000;   // of the predicted gain; less is "did not help"
  milliseconds helpless_after{60'000};  // then the source rests; doubles
  milliseconds helpless_max{3'600'000};
  std::uint32_t unhealthy_ppm = 250'000;  // more unhealthy nodes: something else is wrong
  std::uint32_t silent_ppm = 100'000;     // more of the load only remembered: wait
  std::uint32_t near_ppm = 30'000;        // destinations so close in level: chosen by lot
  std::size_t targets_max = 16;  // destinations tried for one source: what none of the emptiest can
                                 // take, fuller ones cannot either, and a plan must end

  // ---- merging ------------------------------------------------------------------------------
  std::uint32_t cut_ppm = 50'000;           // of a node's fair load: what is worth a cut
  std::uint32_t merge_ppm = 500'000;        // of that, for both together: load must double
                                            // before the same cut could be made again
  milliseconds merge_after{3'600'000};      // since either was cut
  milliseconds merge_observed{600'000};     // the 10 minute peak must have been seen
  std::uint32_t gather_cuts_per_node = 16;  // more cuts than this on average: crumbs go home
  std::size_t merges_max = 4;               // a plan

  // ---- ownership: joins, drains, weights ----------------------------------------------------
  std::uint32_t join_below_ppm = 800'000;  // of its fair tokens: being filled from here ...
  std::uint32_t join_until_ppm = 985'000;  // ... to here,
  std::uint32_t join_load_ppm = 900'000;   // while it has less than so much of its fair load

  // ---- memory -------------------------------------------------------------------------------
  std::uint32_t memory_hot_ppm = 850'000;      // of its limit in use, and ...
  std::uint32_t memory_above_ppm = 1'200'000;  // ... so much more than the others: gives keys away
  // So does a node that is far from full, but so far above the mean use, as with load; and by so
  // much of its limit, or a few bytes in an empty pool would move.
  std::uint32_t memory_skew_ppm = 1'250'000;
  std::uint32_t memory_skew_limit_ppm = 50'000;
  // And one that is a little above it for long: slow_ppm, slow_after and slow_capacity_ppm (of its
  // limit) hold for bytes too.
  std::uint32_t memory_stop_ppm = 1'080'000;  // it goes on until so near the mean use
  milliseconds memory_settle{3'000};  // in the two seconds after a move servers are asked what
                                      // they use now

  // ---- advice -------------------------------------------------------------------------------
  std::uint32_t advise_ppm = 800'000;     // mean use of capacity: more nodes are needed ...
  std::uint32_t advise_to_ppm = 650'000;  // ... so many that it falls to this

  // ---- expected load ------------------------------------------------------------------------
  std::size_t expected_points_max = 4'096;  // of one event of unknown shape: its load in so many
  std::size_t expected_points = 64;         // ... tokens, and in so many of one range
};

}  // namespace cleave::balance
