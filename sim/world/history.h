// History: what simulated clients asked of each key and heard back, and whether that is
// linearizable.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/linearizability.h"

namespace cleave::sim {

// Where an operation is in the history.
struct OpRef {
  std::string key;
  std::size_t index = 0;
};

class History {
 public:
  OpRef begin(const std::string& key, Op op);
  // It happened, with this result (nullopt: the reply does not tell).
  void end(const OpRef& ref, Instant when, std::optional<std::int64_t> result);
  // Perhaps it happened, perhaps it will; of a read: nothing is known.
  void lose(const OpRef& ref);
  // It did not happen and never will: the router says so.
  void refuse(const OpRef& ref);
  // An expiry that goes with a write: the value is gone some time in [earliest, latest].
  void expect_expiry(const OpRef& write, Instant earliest, Instant latest);

  // The key's owner itself lost writes: from now on it holds `value`, as if somebody had set it.
  void lost_at_server(const std::string& key, Instant when, std::int64_t value);

  // A move has brought the key to a server by whose clock its time is not over yet.
  void outlived(const std::string& key, Instant when, std::int64_t value);

  // One text for each key whose history is not linearizable.
  std::vector<std::string> violations() const;

  const std::map<std::string, std::vector<Op>>& by_key() const { return by_key_; }
  std::uint64_t operations() const { return operations_; }
  std::uint64_t writes_acknowledged() const { return writes_acknowledged_; }
  std::uint64_t unknown() const { return unknown_; }
  std::uint64_t lost_at_servers() const { return lost_at_servers_; }

 private:
  void holds(const std::string& key, Instant when, std::int64_t value, const std::string& who);

  std::map<std::string, std::vector<Op>> by_key_;
  std::uint64_t operations_ = 0;
  std::uint64_t writes_acknowledged_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t lost_at_servers_ = 0;
};

}  // namespace cleave::sim
