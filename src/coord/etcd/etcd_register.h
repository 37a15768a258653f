// The register in etcd v3, through its JSON gateway (etcd 3.4 and newer; API: etcd's
// api_reference_v3 and "gRPC gateway" pages). Keys, with P the prefix:
//
//   P/document          the head of the document (coord/parts.h); the text too if it is small
//   P/epoch             the document's epoch in decimal: what a compare-and-set compares, and what
//                       the watch watches; written in one transaction with the document
//   P/parts/...         parts of a large document
//   P/sessions/<id>     one for each living session, attached to its etcd lease
//
//   register -- Client: one kept connection, one call after another, token, endpoints in turn
//           \-- Watch:  one kept connection with a streaming answer
//
// Reads are linearizable (quorum reads). A compare-and-set that was sent and not answered is
// kTimeout; whatever else may be repeated is, on the next endpoint, until `call_timeout`. A wrong
// password is kUnavailable with etcd's own words.
//
// Leases: etcd counts in whole seconds, so a ttl is rounded up, and has a least one of about 1.5
// election timeouts; a session may therefore outlive its ttl by a second or two.
//
// Operators: etcd keeps old revisions until it is told to compact (--auto-compaction-mode,
// --auto-compaction-retention); without that, many writes of a large document fill its quota.
//
// Load, idle: what the caller asks (keep_alive and alive: one request each); the watch costs none.
// A broken connection that says nothing is noticed by the next call, which moves the watch too.
//
// Threads: as in coord/register.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coord/register.h"
#include "net/loop.h"

namespace cleave::coord {

// Where etcd is, who we are, and bounds.
struct EtcdOptions {
  std::vector<std::string> endpoints = {};  // "http://10.0.0.1:2379", "https://etcd.example:2379"
  std::string prefix = "/cleave/main";      // absolute, no '/' at the end; one a pool
  std::string user = {};                    // empty: no authentication
  std::string password = {};
  std::string ca_file = {};           // PEM, for https; empty: the system's authorities
  std::string certificate_file = {};  // PEM, our own, if etcd asks for one
  std::string key_file = {};
  milliseconds connect_timeout{1'000};  // TCP and TLS
  milliseconds request_timeout{2'000};  // one request on one endpoint
  milliseconds call_timeout{5'000};     // one call, with its repetitions
  milliseconds write_timeout{1'500};    // likewise of a compare-and-set: somebody may wait for it
  milliseconds lease_write_every{
      10'000};                           // so often a lease's renewal writes, and so tells whether
                                         // etcd takes writes
  milliseconds endpoint_bad_for{5'000};  // not asked again so soon, if another is good
  milliseconds retry_first{50};          // when none is good; then doubles, with jitter
  milliseconds retry_max{1'000};
  std::size_t queue_max = 1'024;  // open calls; more: kUnavailable
  std::uint64_t seed = 1;         // of the jitter; a different one for each process
};

// Does not wait for etcd: that it is away is an error of each call. Errors: kInvalid (an endpoint,
// the prefix, a TLS file).
Result<std::unique_ptr<Register>> make_etcd(net::Loop& loop, EtcdOptions options);

}  // namespace cleave::coord
