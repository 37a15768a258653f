// Database: the statements of the SQLite register, blocking. Private to coord/sqlite.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coord/register.h"
#include "coord/sqlite/sqlite_register.h"
#include "sqlite/connection.h"

namespace cleave::coord {

class Database {
 public:
  // `stopping` ends waiting for locks early; it must outlive the database.
  Database(SqliteOptions options, const std::atomic<bool>& stopping);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // To be called first; forgets leases that ran out long before `now`. Errors: see
  // open_sqlite_register.
  Result<void> open(UnixMillis now);

  Result<Stored> read();
  Result<Epoch> replace(Epoch expected, Epoch next, std::string_view text);
  Result<void> keep_alive(const SessionId& session, UnixMillis until);
  Result<void> end_lease(const SessionId& session);
  Result<std::vector<SessionId>> alive(UnixMillis now);
  // A number that changes when another connection has changed the file; no disk access.
  Result<std::int64_t> data_version();

 private:
  static int on_busy(void* self, int attempts);
  Result<void> execute(const std::string& sql);
  Result<void> check_format();
  Result<void> use_wal();
  Result<void> create_tables(UnixMillis now);
  Result<void> prepare_all();
  Result<sqlite::Statement> prepare(std::string_view sql);
  Result<void> run(sqlite::Statement& statement);
  std::unexpected<Error> failure(std::string_view what) const;

  const SqliteOptions options_;
  const std::atomic<bool>& stopping_;
  std::optional<sqlite::Connection> file_;  // once `open` was called
  sqlite::Statement read_;
  sqlite::Statement write_;
  sqlite::Statement keep_alive_;
  sqlite::Statement end_lease_;
  sqlite::Statement alive_;
  sqlite::Statement data_version_;
};

}  // namespace cleave::coord
