// NewFile: a file that was not there before, readable by its owner alone; what was appended is on
// the disk when `append` returns.
//
// Threads: one owner.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/unique_fd.h"

namespace cleave::supervise {

class NewFile {
 public:
  // The file is made with the first text.
  explicit NewFile(std::string path) : path_(std::move(path)) {}

  // Errors: kConflict when there is a file of that name already; kUnavailable, with what the system
  // said.
  Result<void> append(std::string_view text);

 private:
  std::string path_;
  net::UniqueFd file_;
};

}  // namespace cleave::supervise
