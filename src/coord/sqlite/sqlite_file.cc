#include "coord/sqlite/sqlite_file.h"

#include <sqlite3.h>

#include <utility>

namespace cleave::coord {
namespace {

// Version 1 of the file's layout, kept in PRAGMA user_version.
constexpr std::int64_t kLayout = 1;

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS register(id INTEGER PRIMARY KEY CHECK(id = 1),"
    " epoch INTEGER NOT NULL, text TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS leases(session TEXT PRIMARY KEY, until_ms INTEGER NOT NULL);";

const char* advice(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL: return "the disk is full: free some space, the register is unchanged";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN: return "the file cannot be written: check its directory and permissions";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return "it is no intact database: restore it, or move it away to begin anew";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another process holds it: is a second router running on it?";
    default: return "";
  }
}

}  // namespace

// A prepared statement, finalised with the object. Positions count from 1, columns from 0.
class SqliteFile::Statement {
 public:
  Statement(sqlite3* database, const char* sql) {
    sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int position, std::int64_t value) {
    sqlite3_bind_int64(statement_, position, value);
    return *this;
  }
  Statement& bind(int position, const std::string& text) {
    sqlite3_bind_text64(statement_, position, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    return *this;
  }
  // SQLITE_ROW, SQLITE_DONE or an error; an error, too, when the statement could not be prepared.
  int step() { return statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_); }
  std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return bytes == nullptr ? std::string()
                            : std::string(static_cast<const char*>(bytes),
                                          static_cast<std::size_t>(size));
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

Result<std::unique_ptr<SqliteFile>> SqliteFile::open(const std::string& path,
                                                     milliseconds busy_timeout) {
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  // NOLINTNEXTLINE(modernize-make-unique): the constructor is private.
  std::unique_ptr<SqliteFile> file(new SqliteFile(database, path));
  if (opened != SQLITE_OK) return std::unexpected(file->trouble("open"));
  Result<void> prepared = file->prepare_file(busy_timeout);
  if (!prepared) return std::unexpected(prepared.error());
  return file;
}

SqliteFile::~SqliteFile() { sqlite3_close(database_); }

Result<void> SqliteFile::prepare_file(milliseconds busy_timeout) {
  sqlite3_busy_timeout(database_, static_cast<int>(busy_timeout.count()));
  for (const char* sql : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"}) {
    Result<void> set = run(sql);
    if (!set) return set;
  }
  Statement layout(database_, "PRAGMA user_version");
  if (layout.step() != SQLITE_ROW) return std::unexpected(trouble("read its layout"));
  if (layout.number(0) > kLayout) {
    return fail(Code::kUnavailable, path_ + " was written by a newer version (layout " +
                                        std::to_string(layout.number(0)) + ")");
  }
  if (layout.number(0) == kLayout) return {};
  Result<void> made = run(kSchema);
  if (!made) return made;
  return run("PRAGMA user_version=" + std::to_string(kLayout));
}

Result<void> SqliteFile::run(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(trouble("prepare"));
  return {};
}

Error SqliteFile::trouble(const std::string& what) const {
  const char* hint = advice(sqlite3_extended_errcode(database_));
  std::string message = path_ + ": cannot " + what + ": " + sqlite3_errmsg(database_);
  if (*hint != '\0') message += std::string(" (") + hint + ")";
  return {Code::kUnavailable, std::move(message)};
}

Result<Stored> SqliteFile::read() {
  Statement select(database_, "SELECT epoch, text FROM register WHERE id = 1");
  const int stepped = select.step();
  if (stepped == SQLITE_DONE) return Stored{};
  if (stepped != SQLITE_ROW) return std::unexpected(trouble("read the register"));
  return Stored{.epoch = Epoch{static_cast<std::uint64_t>(select.number(0))},
                .text = select.text(1)};
}

// One statement, so one transaction: the row is inserted where the register is new, and updated
// only from the epoch that is expected.
Result<Epoch> SqliteFile::compare_and_set(Epoch expected, const std::string& text) {
  const auto before = static_cast<std::int64_t>(expected.value());
  const bool first = before == 0;
  Statement write(database_, first ? "INSERT OR IGNORE INTO register VALUES(1, ?1 + 1, ?2)"
                                   : "UPDATE register SET epoch = ?1 + 1, text = ?2"
                                     " WHERE id = 1 AND epoch = ?1");
  write.bind(1, before).bind(2, text);
  if (write.step() != SQLITE_DONE) return std::unexpected(trouble("write the register"));
  if (sqlite3_changes(database_) == 0) {
    return fail(Code::kConflict,
                path_ + ": the register is not at epoch " + std::to_string(before) + " any more");
  }
  return Epoch{expected.value() + 1};
}

Result<Stored> SqliteFile::read_if_changed() {
  Statement select(database_, "PRAGMA data_version");
  if (select.step() != SQLITE_ROW) return std::unexpected(trouble("look for changes"));
  if (select.number(0) == data_version_) return Stored{};
  data_version_ = select.number(0);
  return read();
}

Result<void> SqliteFile::keep_alive(const SessionId& session, std::int64_t until_ms) {
  Statement write(database_, "INSERT INTO leases VALUES(?1, ?2)"
                             " ON CONFLICT(session) DO UPDATE SET until_ms = ?2");
  write.bind(1, session.value()).bind(2, until_ms);
  if (write.step() != SQLITE_DONE) return std::unexpected(trouble("keep a lease"));
  return {};
}

Result<void> SqliteFile::end_lease(const SessionId& session) {
  Statement write(database_, "DELETE FROM leases WHERE session = ?1");
  write.bind(1, session.value());
  if (write.step() != SQLITE_DONE) return std::unexpected(trouble("end a lease"));
  return {};
}

Result<std::vector<SessionId>> SqliteFile::alive(std::int64_t now_ms) {
  std::vector<SessionId> sessions;
  Statement select(database_, "SELECT session FROM leases WHERE until_ms > ?1 ORDER BY session");
  select.bind(1, now_ms);
  int stepped = select.step();
  for (; stepped == SQLITE_ROW; stepped = select.step()) sessions.emplace_back(select.text(0));
  if (stepped != SQLITE_DONE) return std::unexpected(trouble("read the leases"));
  return sessions;
}

}  // namespace cleave::coord
