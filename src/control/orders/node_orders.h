// NodeOrders: what may be ordered of nodes; how it is answered: control/orders/answers.h.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "control/orders/answers.h"
#include "ring/document/document.h"

namespace cleave::control {

class NodeOrders {
 public:
  virtual ~NodeOrders() = default;

  virtual void add_node(ring::Node node, Done<NodeId> done) = 0;
  virtual void drain_node(NodeId node, Done<void> done) = 0;
  virtual void undrain_node(NodeId node, Done<void> done) = 0;
  virtual void set_weight(NodeId node, std::uint32_t weight, Done<void> done) = 0;
  // Forgets a node that owns nothing. Unless forced refused (kConflict, with examples) while its
  // server holds keys or cannot be asked.
  virtual void remove_node(NodeId node, Force force, Done<void> done) = 0;
};

}  // namespace cleave::control
