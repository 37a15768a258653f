// What is said to etcd's JSON gateway and understood of its answers: only what the register needs.
// Source: etcd's api_reference_v3 and its gRPC gateway: bytes are base64, 64-bit integers are
// strings, and a field that has its default value is left out.
//
// Pure; threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace cleave::coord::etcd {

using Revision = Strong<struct RevisionTag, std::int64_t>;  // of the whole store; 0: the newest
using LeaseId = Strong<struct LeaseIdTag, std::int64_t>;    // 0: none

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

// ---- requests: bodies ------------------------------------------------------------------------

// All keys from `first` until before `last`; empty `last`: `first` alone.
struct KeyRange {
  std::string first;
  std::string last = {};
};
// The keys that begin with it.
KeyRange prefix_range(const std::string& prefix);

enum class Values : std::uint8_t { kWanted, kKeysOnly };

// Linearizable.
std::string range_body(const KeyRange& keys, Values values, Revision at = {});

// A transaction: iff `key` has the value (nullopt: does not exist), then puts and deletions.
struct Txn {
  struct Put {
    std::string key;
    std::string value;
    LeaseId lease = {};
  };
  std::string key = {};
  std::optional<std::string> value = {};
  bool unconditional = false;  // key and value do not matter
  std::vector<Put> puts = {};
  std::vector<KeyRange> deletions = {};
};
std::string txn_body(const Txn& txn);

std::string grant_body(std::int64_t ttl_seconds);
std::string lease_body(LeaseId lease);  // keepalive and revoke
std::string watch_body(const std::string& key, Revision from);
std::string authenticate_body(const std::string& user, const std::string& password);

// ---- answers ---------------------------------------------------------------------------------

// A key and what it holds.
struct Pair {
  std::string key;
  std::string value;
};
// `revision`: of the store when it was read. Errors here and below: kInvalid, the text is not what
// etcd says.
struct RangeReply {
  Revision revision;
  std::vector<Pair> pairs;
};
Result<RangeReply> parse_range(std::string_view text);

// True: the condition held and everything was done.
Result<bool> parse_txn(std::string_view text);

Result<LeaseId> parse_grant(std::string_view text);

// False: there is no such lease any more.
Result<bool> parse_keepalive(std::string_view text);

Result<std::string> parse_token(std::string_view text);

// One line of a watch.
struct WatchLine {
  Revision newest;                // of the events in it; 0: none
  std::vector<std::string> puts;  // new values, oldest first
  bool canceled = false;
  Revision compacted = {};  // canceled for this: what we asked for is gone up to here
  std::string reason = {};
};
Result<WatchLine> parse_watch(std::string_view line);

// An answer with another status than 200. `code` is gRPC's.
struct Refusal {
  int code = 0;
  std::string message;
};
Refusal parse_refusal(std::string_view text);

}  // namespace cleave::coord::etcd
