#include "coord/sqlite/database.h"

#include <sqlite3.h>

#include <thread>
#include <utility>

#include "base/check.h"

namespace cleave::coord {
namespace {

// "clev" in the file's header, so that `file` and we know our own.
constexpr int kApplicationId = 0x636c6576;
constexpr int kFormat = 1;

constexpr milliseconds kBusyStep{5};

// Sessions never return, so their rows would stay for ever.
constexpr std::int64_t kLeaseKeptMs = 3'600'000;

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS register("
    " pool TEXT PRIMARY KEY, epoch INTEGER NOT NULL, text TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS lease("
    " pool TEXT NOT NULL, session TEXT NOT NULL, expires_ms INTEGER NOT NULL,"
    " PRIMARY KEY(pool, session)) STRICT, WITHOUT ROWID;";

// What a person can do about it; by SQLite's primary result code.
std::string_view advice(int code) {
  switch (code) {
    case SQLITE_FULL: return "free space on its file system, then try again";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return "make the file and its directory writable for this user";
    case SQLITE_CANTOPEN: return "its directory must exist and be writable for this user";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "move the file away (keep it) and put a backup in its place, or give another path";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another process holds its lock: see `fuser` on the file";
    case SQLITE_IOERR: return "look at the disk: `df`, `dmesg`";
    default: return "see https://www.sqlite.org/rescode.html";
  }
}

// Not called `bind`: for a std::string that would find std::bind.
void bind_value(sqlite3_stmt* statement, int index, std::string_view text) {
  // The text outlives the run of the statement, so SQLite need not copy it.
  const int code =
      sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  CHECK(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM);
}

void bind_value(sqlite3_stmt* statement, int index, std::int64_t number) {
  CHECK(sqlite3_bind_int64(statement, index, number) == SQLITE_OK);
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return text == nullptr ? std::string{} : std::string(text, size);
}

// Ends the statement's transaction when the scope ends.
struct Reset {
  sqlite3_stmt* statement;
  explicit Reset(sqlite3_stmt* used) : statement(used) {}
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;
  ~Reset() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

}  // namespace

void Database::CloseDatabase::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
void Database::FinalizeStatement::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::Database(SqliteOptions options, const std::atomic<bool>& stopping)
    : options_(std::move(options)), stopping_(stopping) {}
Database::~Database() = default;

Result<void> Database::open(UnixMillis now) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(options_.path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);  // also after a failure: it carries the message
  if (code != SQLITE_OK) return failure("open");
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_handler(handle, &Database::on_busy, this);

  if (Result<void> ours = check_format(); !ours) return ours;
  if (Result<void> wal = use_wal(); !wal) return wal;
  if (Result<void> full = execute("PRAGMA synchronous=FULL"); !full) return full;
  const std::string pages = std::to_string(options_.bytes_max / 4'096 + 1);
  if (Result<void> most = execute("PRAGMA max_page_count=" + pages); !most) return most;
  if (Result<void> tables = create_tables(now); !tables) return tables;
  return prepare_all();
}

int Database::on_busy(void* self, int attempts) {
  const auto& database = *static_cast<Database*>(self);
  if (database.stopping_ || attempts * kBusyStep >= database.options_.busy_max) return 0;
  std::this_thread::sleep_for(kBusyStep);
  return 1;
}

// An empty file is ours; otherwise it must say so. In one transaction, for another process may be
// creating its tables.
Result<void> Database::check_format() {
  if (Result<void> begun = execute("BEGIN"); !begun) return begun;
  std::int64_t numbers[3] = {};
  const char* const questions[3] = {"PRAGMA application_id", "PRAGMA user_version",
                                    "SELECT count(*) FROM sqlite_schema"};
  for (int i = 0; i < 3; ++i) {
    Result<Statement> asked = prepare(questions[i]);
    if (!asked) return std::unexpected(asked.error());
    if (sqlite3_step(asked->get()) != SQLITE_ROW) return failure("open");
    numbers[i] = sqlite3_column_int64(asked->get(), 0);
  }
  const auto [application, format, tables] = numbers;
  const std::string where = "coordinator file " + options_.path;
  if (application != kApplicationId && (application != 0 || tables != 0))
    return fail(Code::kInvalid, where + ": it belongs to another program; give another path");
  if (format > kFormat)
    return fail(Code::kInvalid, where + ": format " + std::to_string(format) +
                                    " is of a newer cleave; this one reads up to " +
                                    std::to_string(kFormat));
  return execute("COMMIT");
}

// Going over to WAL needs the file alone and gives up at once when another process is opening it
// too: SQLite does not ask the busy handler there.
Result<void> Database::use_wal() {
  for (int attempts = 0;; ++attempts) {
    Result<void> done = execute("PRAGMA journal_mode=WAL");
    if (done || (sqlite3_errcode(handle_.get()) & 0xff) != SQLITE_BUSY) return done;
    if (on_busy(this, attempts) == 0) return done;
  }
}

Result<void> Database::create_tables(UnixMillis now) {
  // In one transaction, for another process may be doing the same.
  std::string sql = "BEGIN IMMEDIATE;";
  sql += "PRAGMA application_id=" + std::to_string(kApplicationId) + ";";
  sql += "PRAGMA user_version=" + std::to_string(kFormat) + ";";
  sql += kTables;
  if (Result<void> made = execute(sql); !made) return made;
  Result<Statement> row = prepare("INSERT OR IGNORE INTO register VALUES(?1, 0, '')");
  if (!row) return std::unexpected(row.error());
  bind_value(row->get(), 1, options_.pool);
  if (Result<void> inserted = run(row->get()); !inserted) return inserted;
  Result<Statement> forget = prepare("DELETE FROM lease WHERE expires_ms<?1");
  if (!forget) return std::unexpected(forget.error());
  bind_value(forget->get(), 1, now.value() - kLeaseKeptMs);
  if (Result<void> forgotten = run(forget->get()); !forgotten) return forgotten;
  return execute("COMMIT");
}

Result<void> Database::prepare_all() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&read_, "SELECT epoch, text FROM register WHERE pool=?1"},
      // One statement, so atomic; it changes no row when the epoch is another.
      {&write_, "UPDATE register SET epoch=?4, text=?3 WHERE pool=?1 AND epoch=?2"},
      {&keep_alive_,
       "INSERT INTO lease VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET expires_ms=?3"},
      {&end_lease_, "DELETE FROM lease WHERE pool=?1 AND session=?2"},
      {&alive_,
       "SELECT session FROM lease WHERE pool=?1 AND expires_ms>?2 ORDER BY session COLLATE BINARY"},
      {&data_version_, "PRAGMA data_version"},
  };
  for (const auto& [statement, sql] : all) {
    Result<Statement> prepared = prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<Stored> Database::read() {
  const Reset reset(read_.get());
  bind_value(read_.get(), 1, options_.pool);
  if (sqlite3_step(read_.get()) != SQLITE_ROW) return failure("read");
  return Stored{.epoch = Epoch{static_cast<std::uint64_t>(sqlite3_column_int64(read_.get(), 0))},
                .text = column_text(read_.get(), 1)};
}

Result<Epoch> Database::replace(Epoch expected, Epoch next, std::string_view text) {
  const Reset reset(write_.get());
  bind_value(write_.get(), 1, options_.pool);
  bind_value(write_.get(), 2, static_cast<std::int64_t>(expected.value()));
  bind_value(write_.get(), 3, text);
  bind_value(write_.get(), 4, static_cast<std::int64_t>(next.value()));
  if (sqlite3_step(write_.get()) != SQLITE_DONE) {
    auto failed = failure("write");
    // The commit's bytes may be on the disk although it could not say so.
    if ((sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_IOERR)
      failed.error().code = Code::kTimeout;
    return failed;
  }
  if (sqlite3_changes(handle_.get()) == 1) return next;
  return fail(Code::kConflict, "coordinator file " + options_.path + ": the register is not at " +
                                   "epoch " + std::to_string(expected.value()) + " any more");
}

Result<void> Database::keep_alive(const SessionId& session, UnixMillis until) {
  bind_value(keep_alive_.get(), 1, options_.pool);
  bind_value(keep_alive_.get(), 2, session.value());
  bind_value(keep_alive_.get(), 3, until.value());
  return run(keep_alive_.get());
}

Result<void> Database::end_lease(const SessionId& session) {
  bind_value(end_lease_.get(), 1, options_.pool);
  bind_value(end_lease_.get(), 2, session.value());
  return run(end_lease_.get());
}

Result<std::vector<SessionId>> Database::alive(UnixMillis now) {
  const Reset reset(alive_.get());
  bind_value(alive_.get(), 1, options_.pool);
  bind_value(alive_.get(), 2, now.value());
  std::vector<SessionId> sessions;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(alive_.get())) == SQLITE_ROW)
    sessions.emplace_back(column_text(alive_.get(), 0));
  if (code != SQLITE_DONE) return failure("read");
  return sessions;
}

Result<std::int64_t> Database::data_version() {
  const Reset reset(data_version_.get());
  if (sqlite3_step(data_version_.get()) != SQLITE_ROW) return failure("read");
  return sqlite3_column_int64(data_version_.get(), 0);
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure("set up");
  return {};
}

Result<Database::Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failure("set up");
  return Statement(statement);
}

Result<void> Database::run(sqlite3_stmt* statement) {
  const Reset reset(statement);
  if (sqlite3_step(statement) != SQLITE_DONE) return failure("write");
  return {};
}

std::unexpected<Error> Database::failure(std::string_view what) const {
  const int code = handle_ ? sqlite3_errcode(handle_.get()) & 0xff : SQLITE_NOMEM;
  const std::string reason = handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
  return fail(Code::kUnavailable, "coordinator file " + options_.path + ": cannot " +
                                      std::string(what) + ": " + reason + "; " +
                                      std::string(advice(code)));
}

}  // namespace cleave::coord
