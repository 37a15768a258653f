// Database: the statements of the SQLite register, blocking. Private to coord/sqlite.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coord/register.h"
#include "coord/sqlite/sqlite_register.h"

struct sqlite3;
struct sqlite3_stmt;

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
  struct CloseDatabase {
    void operator()(sqlite3* handle) const;
  };
  struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

  static int on_busy(void* self, int attempts);
  Result<void> execute(const std::string& sql);
  Result<void> check_format();
  Result<void> use_wal();
  Result<void> create_tables(UnixMillis now);
  Result<void> prepare_all();
  Result<Statement> prepare(std::string_view sql);
  Result<void> run(sqlite3_stmt* statement);
  std::unexpected<Error> failure(std::string_view what) const;

  const SqliteOptions options_;
  const std::atomic<bool>& stopping_;
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
  Statement read_;
  Statement write_;
  Statement keep_alive_;
  Statement end_lease_;
  Statement alive_;
  Statement data_version_;
};

}  // namespace cleave::coord
