#include "app/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

namespace cleave::app {
namespace {

std::unexpected<Error> cannot(const std::string& path, const std::string& what, int error) {
  return fail(Code::kUnavailable,
              path + ": " + what + (error == 0 ? "" : std::string(": ") + std::strerror(error)));
}

}  // namespace

Result<std::ifstream> open_file(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return fail(Code::kNotFound, path + ": cannot be read: it is a folder, want a file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Code::kNotFound, path + ": cannot be read: " + std::strerror(errno));
  }
  return file;
}

Result<std::string> read_file(const std::string& path) {
  Result<std::ifstream> file = open_file(path);
  if (!file) return std::unexpected(file.error());
  std::string text(std::istreambuf_iterator<char>(*file), {});
  if (!*file) return fail(Code::kNotFound, path + ": cannot be read");
  return text;
}

Result<void> write_file(const std::string& path, const std::string& text, Secrets secrets,
                        Overwrite overwrite) {
  namespace fs = std::filesystem;
  // What is no file, such as /dev/stdout, is written to as it is.
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  const bool special = fs::exists(status) && !fs::is_regular_file(status);
  const bool fresh = overwrite == Overwrite::kNo && !special;
  errno = 0;
  // "x": only where there is none (C11), in one step.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), fresh ? "wbx" : "wb"), &std::fclose);
  if (file == nullptr && errno == EEXIST) {
    return fail(Code::kConflict, path + ": is there already; say --force to overwrite it");
  }
  if (file == nullptr) return cannot(path, "cannot be written", errno);
  // It is still empty: nobody has read a secret before it is closed to others.
  if (secrets == Secrets::kSome && !special) {
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, failed);
    if (failed)
      return fail(Code::kUnavailable, path + ": cannot be closed to others: " + failed.message());
  }
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                       std::fflush(file.get()) == 0;
  if (!written) return cannot(path, "cannot be written", errno);
  return {};
}

}  // namespace cleave::app
