#include "supervise/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace cleave::supervise {
namespace {

constexpr std::size_t kFileBytesMax = 65'536;

std::unexpected<Error> failure(const std::string& what, const std::string& path, int error) {
  std::string text = "cannot " + what + " " + path + ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == EDQUOT) text += "; free some space and try again";
  if (error == EACCES || error == EPERM || error == EROFS)
    text += "; give a directory that this user may write";
  return fail(Code::kUnavailable, std::move(text));
}

Result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Result<void> make_directory(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return failure("make directory", path, failed.value());
  return {};
}

Result<std::string> real_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  if (failed) return failure("find", path, failed.value());
  return real.string();
}

Result<void> write_file(const std::string& path, std::string_view text) {
  // A name of our own: another process may be writing the same file.
  const std::string fresh = path + "." + std::to_string(::getpid()) + ".new";
  net::UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return failure("write", fresh, errno);
  if (Result<void> written = write_all(fd.get(), text, fresh); !written) return written;
  if (::fsync(fd.get()) != 0) return failure("write", fresh, errno);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return failure("write", path, errno);
  // The name, too, has to be on the disk. Where a folder cannot be opened it is as good as it gets.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const net::UniqueFd opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened) ::fsync(opened.get());
  return {};
}

Result<std::string> read_file(const std::string& path) {
  const net::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Code::kNotFound, path + ": no such file");
  if (!fd) return failure("read", path, errno);
  std::string text(kFileBytesMax, '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read", path, errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  text.resize(used);
  return text;
}

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
  const std::string path = directory + "/lock";
  // Close-on-exec: a child that kept the descriptor would keep the lock after our death.
  net::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return failure("open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failure("lock", path, errno);
    Result<std::string> holder = read_file(path);
    if (holder) std::erase(*holder, '\n');
    return fail(Code::kConflict, "directory " + directory + " is in use by process " +
                                     (holder && !holder->empty() ? *holder : "(unknown)") +
                                     ": stop that `cleave up`, or give another directory");
  }
  if (::ftruncate(fd.get(), 0) != 0) return failure("write", path, errno);
  if (Result<void> told = write_all(fd.get(), std::to_string(::getpid()) + "\n", path); !told)
    return std::unexpected(told.error());
  return DirectoryLock(std::move(fd));
}

}  // namespace cleave::supervise
