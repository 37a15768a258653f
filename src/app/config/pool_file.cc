#include "app/config/pool_file.h"

#include <utility>

#include "app/config/config.h"
#include "app/files.h"
#include "convert/pool/ring_summary.h"

namespace cleave::app {
namespace {

Result<convert::Imported> import_text(const std::string& text, const PoolFile& file) {
  convert::ImportOptions options{.file = file.path, .from = {}, .pool = file.pool};
  if (!file.from.empty()) {
    const auto peer = convert::parse_peer(file.from);
    if (!peer) return fail("--from", peer.error());
    options.from = *peer;
  }
  return convert::import_pools(text, options);
}

Result<convert::Pool> only_one(convert::Imported imported, const std::string& path) {
  if (imported.pools.size() == 1) return std::move(imported.pools.front());
  std::string names;
  for (const convert::Pool& pool : imported.pools) names += (names.empty() ? "" : ", ") + pool.name;
  return fail(Code::kInvalid, path + ": has the pools " + names + "; choose one with --pool");
}

convert::Pool pool_of(const Config& whole) {
  const PoolConfig& config = whole.pool;
  convert::Pool pool = convert::pool_of(
      convert::RingSummary{.pool = config.name, .scheme = config.scheme, .nodes = config.nodes});
  pool.listener = net::to_string(whole.listeners.front().address);
  pool.client_password = whole.listeners.front().password;
  pool.kind = config.kind == PoolKind::kStore ? convert::Kind::kStore : convert::Kind::kCache;
  pool.server_user = config.credentials.user;
  pool.server_password = config.credentials.password;
  return pool;
}

}  // namespace

void add_pool_options(CLI::App& command, PoolFile& file) {
  command.add_option("--from", file.from,
                     "whose file it is: twemproxy, nginx, haproxy, envoy, codis; default: told "
                     "from its text");
  command.add_option("--pool", file.pool, "only this pool of the file");
}

Result<convert::Imported> import_file(const PoolFile& file) {
  const Result<std::string> text = read_file(file.path);
  if (!text) return std::unexpected(text.error());
  return import_text(*text, file);
}

Result<convert::Pool> read_pool_file(const PoolFile& file) {
  const Result<std::string> text = read_file(file.path);
  if (!text) return std::unexpected(text.error());
  if (!file.from.empty() || convert::recognise(*text)) {
    auto imported = import_text(*text, file);
    if (!imported) return std::unexpected(imported.error());
    return only_one(std::move(*imported), file.path);
  }
  const Result<Config> config = parse_config(*text, file.path);
  if (!config) return std::unexpected(config.error());
  if (file.pool.empty() || file.pool == config->pool.name) return pool_of(*config);
  return fail(Code::kNotFound, file.path + ": there is no pool '" + file.pool + "'");
}

bool has_secrets(const convert::Pool& pool) {
  return !pool.client_password.empty() || !pool.server_password.empty();
}

}  // namespace cleave::app
