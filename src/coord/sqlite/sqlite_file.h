// The database file behind coord/sqlite: one row for the register, one for each lease.
//
// Blocking. Threads: one owner (SqliteRegister's worker).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "coord/register.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cleave::coord {

class SqliteFile {
 public:
  static Result<std::unique_ptr<SqliteFile>> open(const std::string& path,
                                                  milliseconds busy_timeout);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  Result<Stored> read();
  Result<Epoch> compare_and_set(Epoch expected, const std::string& text);
  // Epoch 0 when no other connection has changed the file since the last call (by PRAGMA
  // data_version, which costs next to nothing), else the register.
  Result<Stored> read_if_changed();
  // `until` in Unix milliseconds.
  Result<void> keep_alive(const SessionId& session, std::int64_t until_ms);
  Result<void> end_lease(const SessionId& session);
  Result<std::vector<SessionId>> alive(std::int64_t now_ms);

 private:
  class Statement;

  SqliteFile(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}

  Result<void> prepare_file(milliseconds busy_timeout);
  Result<void> run(const std::string& sql);
  Error trouble(const std::string& what) const;

  sqlite3* database_;
  std::string path_;
  std::int64_t data_version_ = -1;
};

}  // namespace cleave::coord
