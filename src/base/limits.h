// Every bound of the router in one place, with its unit and its reason. Full means a clean error to
// whoever asked, never growth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace cleave {

// Defaults suit one worker on a small machine; the configuration may change each of them.
struct Limits {
  // ---- wire: what one client may say --------------------------------------------------------
  std::size_t request_bytes_max = std::size_t{512} << 20U;  // Redis's proto-max-bulk-len
  std::size_t request_args_max = std::size_t{1} << 20U;     // Redis refuses more than 1 Mi
  std::size_t inline_bytes_max = 65'536;                    // Redis's PROTO_INLINE_MAX_SIZE
  std::size_t reply_bytes_max = std::size_t{1} << 30U;      // one reply held while it arrives
  std::size_t key_bytes_max = 65'536;                       // a longer key is refused, not hashed

  // ---- proxy: clients -----------------------------------------------------------------------
  std::size_t clients_max = 10'000;                             // accepted at once, a process
  std::size_t client_pending_max = 16'384;                      // requests of one client under way
  std::size_t client_unsent_bytes_max = std::size_t{8} << 20U;  // stop reading from it above this
  std::size_t client_unsent_bytes_hard = std::size_t{64} << 20U;  // close it above this
  milliseconds client_stalled_max{60'000};  // above the soft bound for so long: close
  // A worker: what parts of replies take until the other parts are there. More: refused.
  std::size_t fan_out_bytes_max = std::size_t{256} << 20U;

  // ---- backend: one pipe --------------------------------------------------------------------
  std::size_t pipe_unsent_bytes_max = std::size_t{64} << 20U;
  std::size_t pipe_pending_max = 262'144;
  milliseconds connect_timeout{1'000};
  milliseconds request_timeout{2'000};  // one request; its place in the pipe becomes a tombstone
  milliseconds pipe_stuck_max{10'000};  // the head older than this: close and reconnect
  milliseconds reconnect_first{20};     // then doubles, with jitter
  milliseconds reconnect_max{1'000};
  milliseconds probe_interval{250};      // the one prober of a node
  std::uint32_t probe_failures_max = 3;  // in a row: the node is down

  // ---- moves --------------------------------------------------------------------------------
  milliseconds fence_hold_max{200};        // a client waits at a fence no longer (rule 11)
  std::size_t held_requests_max = 65'536;  // a worker; more are refused, the fence stays
  std::size_t held_bytes_max = std::size_t{64} << 20U;
  std::size_t dirty_keys_max = 262'144;  // a router and move; more: the whole range is marked
  std::size_t copy_batch_keys = 64;      // keys of one pipelined batch
  std::size_t copy_batch_bytes = std::size_t{1} << 20U;
  // Of all moves together while clients do not feel them, else less, down to a sixteenth
  // (control/moves/copy_pace.h). 0 = unthrottled.
  std::size_t copy_bytes_per_second = std::size_t{25} << 20U;
  std::size_t scan_count = 1'000;                         // SCAN ... COUNT
  std::size_t driver_keys_max = std::size_t{1} << 20U;    // keys the driver remembers at once
  std::size_t big_value_bytes = std::size_t{8} << 20U;    // above: in chunks
  std::size_t value_bytes_max = std::size_t{512} << 20U;  // above: stays, with a reason
  // One element of a big value travels whole: above, its key stays, with a reason.
  std::size_t element_bytes_max = std::size_t{64} << 20U;
  milliseconds clock_skew_max{50};      // between two servers, for TTLs
  std::uint32_t dirty_rounds_max = 64;  // then the move gives up
  std::size_t dirty_small_keys = 64;    // few enough to fence

  // When routers and driver begin to end a fence. What is left of fence_hold_max is for the write
  // that aborts the move and for the news of it, 10 to 40 ms with etcd on a busy machine.
  [[nodiscard]] milliseconds fence_abort_after() const { return fence_hold_max * 3 / 4; }
};

}  // namespace cleave
