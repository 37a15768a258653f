// The register in ZooKeeper, through its C client (libzookeeper_mt). Nodes, with P the prefix, made
// with its parents by the first read or write:
//
//   P/document        the head of the document (coord/parts.h); the text too if it is small. A
//                     compare-and-set is a set with the version that was read with the epoch.
//   P/parts/...       parts of a large document
//   P/sessions/<id>   one for each living session, ephemeral
//   P/barrier         written before each read
//
// Reads are linearizable by a write of our own before them: what a client's server has applied when
// it answers a write is at least as new, and a client never goes back to an older server. `sync`
// would be cheaper but is no quorum operation: a leader that was deposed and does not know it may
// answer it (ZooKeeper's documentation, "Consistency Guarantees").
//
// A compare-and-set that was handed to the client and not answered is kTimeout; what may be
// repeated is, until `call_timeout`.
//
// Leases: a session's node is removed `ttl` after the last keep_alive, by this process; when the
// process is dead or stopped, by ZooKeeper after `session_timeout`. An expired ZooKeeper session is
// replaced by a new one; the next keep_alive makes the node again.
//
// User and password are of the scheme "digest"; nodes are then made for this user alone.
//
// Load, idle: what the caller asks (keep_alive and alive: one request each), and the client's
// pings.
//
// Threads: as in coord/register.h. The client has two of its own, the register one, for opening and
// closing handles (both may wait, for a name server or a last packet). Destroying a register waits
// for them: usually milliseconds, at worst the 3 s that the client gives its last packet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coord/register.h"
#include "net/loop.h"

namespace cleave::coord {

// Where ZooKeeper is, who we are, and bounds.
struct ZookeeperOptions {
  std::vector<std::string> servers = {};  // "10.0.0.1:2181"
  std::string prefix = "/cleave/main";    // absolute, no '/' at the end; one a pool
  std::string user = {};                  // empty: no authentication
  std::string password = {};
  milliseconds session_timeout{6'000};  // asked for; the server has bounds (2 to 20 ticks)
  milliseconds call_timeout{5'000};     // one call, with its repetitions
  milliseconds write_timeout{1'500};    // likewise of a compare-and-set: somebody may wait for it
  milliseconds retry_first{100};        // between attempts to open a handle; doubles, with jitter
  milliseconds retry_max{2'000};
  std::size_t queue_max = 1'024;  // open calls; more: kUnavailable
  std::uint64_t seed = 1;         // of the jitter; a different one for each process
};

// Does not wait for ZooKeeper: that it is away is an error of each call. Errors: kInvalid (a
// server's address, the prefix).
Result<std::unique_ptr<Register>> make_zookeeper(net::Loop& loop, ZookeeperOptions options);

}  // namespace cleave::coord
