// OwnershipChecker: watches every command that a model server runs and says which of them no
// protocol-abiding process sends. Independent of what clients see, so it notices at once.
//
//   a router's command on a key runs only at the server that owns the key in the document: before
//   the commit all send to the source, after it all were fenced (rules 9, 11, 17, 20)
//   a driver's write runs only at a server that does not own the key: copies before the commit,
//   removals after it (rules 7, 8, 13, 21)
//
// Threads: one.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ring/view/view.h"

namespace cleave::sim {

class OwnershipChecker {
 public:
  // `keys`: of the clients. Others are not judged.
  explicit OwnershipChecker(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  // "cleave:router0-1" is a router's, "cleave:router0-1.t3" a driver's (control/moves/sweep.h).
  static bool is_driver(std::string_view connection) {
    return connection.find('.') != std::string_view::npos;
  }
  // A command runs at the server of that node, on a connection of that name, while the document is
  // `view`.
  void see(const ring::RingView& view, NodeId node, std::span<const std::string> args,
           std::string_view connection);

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  std::vector<std::string> keys_;
  std::map<std::string, Token, std::less<>> tokens_;  // of the keys, from the first view on
  std::vector<std::string> violations_;
};

}  // namespace cleave::sim
