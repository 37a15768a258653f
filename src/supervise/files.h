// Files of `cleave up`: small text files written whole or not at all, and the directory's lock.
//
// Errors of all: kUnavailable, naming the path, what the system said, and what to do about a full
// disk or a missing permission.
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/unique_fd.h"

namespace cleave::supervise {

// With its parents; nothing happens if it exists.
Result<void> make_directory(const std::string& path);

// Absolute, without symbolic links. The path must exist.
Result<std::string> real_path(const std::string& path);

// By a new file that is renamed: a crash or a full disk leaves the old content.
Result<void> write_file(const std::string& path, std::string_view text);

// Errors: also kNotFound, when there is no such file. Reads 64 KiB at most.
Result<std::string> read_file(const std::string& path);

// Holds the directory for one `cleave up`: `lock` in it, with our pid. Errors: kConflict, naming
// the pid of the holder. Released when destroyed, and by the system when the process dies.
class DirectoryLock {
 public:
  static Result<DirectoryLock> take(const std::string& directory);

 private:
  explicit DirectoryLock(net::UniqueFd fd) : fd_(std::move(fd)) {}
  net::UniqueFd fd_;
};

}  // namespace cleave::supervise
