#include "supervise/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cleave::supervise {
namespace {

std::unexpected<Error> trouble(const std::string& path) {
  const bool there = errno == EEXIST;
  return fail(there ? Code::kConflict : Code::kUnavailable,
              path + ": " + std::strerror(errno) + (there ? "; name a new file" : ""));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<void> NewFile::append(std::string_view text) {
  if (!file_) {
    file_ = net::UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_) return trouble(path_);
  }
  if (!write_all(file_.get(), text) || ::fsync(file_.get()) != 0) return trouble(path_);
  return {};
}

}  // namespace cleave::supervise
