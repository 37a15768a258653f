// What the HTTP interface asks of the data path: an interface, so that it can be asked in a test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "admin/state_book.h"
#include "proxy/data_path.h"

namespace cleave::admin {

class PastDecisions;

// The process as the system sees it; 0: not known.
struct ProcessUsage {
  std::string version;  // of the program
  UnixMillis started;
  milliseconds cpu{0};  // user and system, of all threads
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t open_files_max = 0;
};

// Threads: the control loop.
class RouterFacts {
 public:
  virtual ~RouterFacts() = default;
  // Clients can connect.
  virtual bool serving() const = 0;
  virtual std::vector<proxy::NodeHealth> health() const = 0;
  virtual void stats(std::function<void(proxy::RouterStats)> done) = 0;
  virtual ProcessUsage usage() const = 0;
  // What is wrong now.
  virtual const StateBook& states() const = 0;
  // nullptr: nothing is known of former leaders.
  virtual const PastDecisions* past_decisions() const { return nullptr; }
  // Who the server at an address is: its run id. For a node that shall join.
  virtual void identify(const net::Address& address,
                        std::function<void(Result<std::string>)> done) = 0;
};

}  // namespace cleave::admin
