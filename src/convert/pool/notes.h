// What a reader notes about one pool while it walks through a peer's file: remarks, and reasons why
// the pool cannot be taken over. All reasons are kept, so that a person sees them at once.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "convert/pool/pool.h"

namespace cleave::convert {

// "FILE:LINE: what"; without the line when it is 0.
std::string at_line(const std::string& file, std::size_t line, const std::string& what);

class Notes {
 public:
  // `file` is only for messages.
  Notes(std::string file, std::string pool) : file_(std::move(file)), pool_(std::move(pool)) {}

  // Something that has no counterpart but does not move a key.
  void remark(std::size_t line, std::string text);
  // A reason against the pool.
  void refuse(std::size_t line, const std::string& text);

  bool refused() const { return !reasons_.empty(); }

  // The pool with its remarks, or all reasons, one a line. The names of its nodes are what is
  // hashed; where cleave could not call a node so, it gets another name and that as its hash key.
  // Looks at what every pool must hold:
  // nodes, names and addresses that are there once, weights that cleave takes (1 to
  // ring::kWeightMax), a scheme that accepts all of it. Errors: kInvalid.
  Result<Pool> finish(Pool pool) &&;

  // The error for a pool that is not placed by keys at all: kNotFound.
  Error not_placed(std::size_t line, const std::string& text) const;

 private:
  std::string place(std::size_t line, const std::string& text) const;
  void rename_pool(Pool& pool);
  void rename_nodes(Pool& pool);
  void check_names(const Pool& pool);
  void check_addresses(const Pool& pool);
  void check_weights(Pool& pool);
  void check_scheme(const Pool& pool);

  std::string file_;
  std::string pool_;
  std::vector<Remark> remarks_;
  std::vector<std::string> reasons_;
};

}  // namespace cleave::convert
