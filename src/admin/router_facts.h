// What the HTTP interface asks of the data path: an interface, so that it can be asked in a test.
#pragma once

#include <functional>
#include <vector>

#include "proxy/router.h"

namespace cleave::admin {

// Threads: the control loop.
class RouterFacts {
 public:
  virtual ~RouterFacts() = default;
  // Clients can connect.
  virtual bool serving() const = 0;
  virtual std::vector<proxy::NodeHealth> health() const = 0;
  virtual void stats(std::function<void(proxy::RouterStats)> done) = 0;
};

}  // namespace cleave::admin
