// Relative paths of a configuration (app/config/config.h).
#include <filesystem>
#include <system_error>

#include "app/config/config.h"

namespace cleave::app {
namespace {

namespace fs = std::filesystem;

// What must be found where it was, or the router would begin without it.
Result<void> resolve(std::string& path, const std::string& key, const fs::path& folder) {
  if (path.empty() || fs::path(path).is_absolute()) return {};
  const fs::path here = (folder / path).lexically_normal();
  std::error_code ignored;
  if (!fs::exists(here, ignored) && fs::exists(path, ignored)) {
    return fail(Code::kInvalid,
                key + ": '" + path + "' is looked for beside the configuration file now, at " +
                    here.string() + ", where nothing is; there is one in the working directory, " +
                    fs::absolute(path, ignored).string() +
                    ": move it there, or write its whole path into the file");
  }
  path = here.string();
  return {};
}

}  // namespace

Result<void> resolve_paths(Config& config, const std::string& file) {
  std::error_code failure;
  const fs::path folder = fs::absolute(file, failure).parent_path();
  if (failure) return fail(Code::kInvalid, file + ": " + failure.message());
  CoordinationConfig& coordination = config.coordination;
  if (coordination.kind == CoordinatorKind::kSqlite) {
    if (auto found = resolve(coordination.path, "coordination.path", folder); !found) return found;
  }
  const std::pair<std::string*, const char*> files[] = {
      {&coordination.ca_file, "coordination.ca_file"},
      {&coordination.certificate_file, "coordination.certificate_file"},
      {&coordination.key_file, "coordination.key_file"}};
  for (const auto& [path, key] : files) {
    if (auto found = resolve(*path, key, folder); !found) return found;
  }
  // Of these a new one is begun without harm.
  for (std::string* path : {&config.history_path, &coordination.saved_rings}) {
    if (!path->empty() && fs::path(*path).is_relative())
      *path = (folder / *path).lexically_normal().string();
  }
  return {};
}

}  // namespace cleave::app
