#include "coord/sqlite/database.h"

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

}  // namespace

Database::Database(SqliteOptions options, const std::atomic<bool>& stopping)
    : options_(std::move(options)), stopping_(stopping) {}
Database::~Database() = default;

Result<void> Database::open(UnixMillis now) {
  file_.emplace(options_.path);
  if (file_->code() != SQLITE_OK) return failure("open");
  sqlite3_extended_result_codes(file_->handle(), 1);
  sqlite3_busy_handler(file_->handle(), &Database::on_busy, this);

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
    Result<sqlite::Statement> asked = prepare(questions[i]);
    if (!asked) return std::unexpected(asked.error());
    if (asked->step() != SQLITE_ROW) return failure("open");
    numbers[i] = asked->integer(0);
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
    if (done || file_->code() != SQLITE_BUSY) return done;
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
  Result<sqlite::Statement> row = prepare("INSERT OR IGNORE INTO register VALUES(?1, 0, '')");
  if (!row) return std::unexpected(row.error());
  row->bind(1, options_.pool);
  if (Result<void> inserted = run(*row); !inserted) return inserted;
  Result<sqlite::Statement> forget = prepare("DELETE FROM lease WHERE expires_ms<?1");
  if (!forget) return std::unexpected(forget.error());
  forget->bind(1, now.value() - kLeaseKeptMs);
  if (Result<void> forgotten = run(*forget); !forgotten) return forgotten;
  return execute("COMMIT");
}

Result<void> Database::prepare_all() {
  const std::pair<sqlite::Statement*, std::string_view> all[] = {
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
    Result<sqlite::Statement> prepared = prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<Stored> Database::read() {
  const sqlite::Reset reset(read_);
  read_.bind(1, options_.pool);
  if (read_.step() != SQLITE_ROW) return failure("read");
  return Stored{.epoch = Epoch{read_.natural(0)}, .text = read_.text(1)};
}

Result<Epoch> Database::replace(Epoch expected, Epoch next, std::string_view text) {
  const sqlite::Reset reset(write_);
  write_.bind(1, options_.pool);
  write_.bind(2, static_cast<std::int64_t>(expected.value()));
  write_.bind(3, text);
  write_.bind(4, static_cast<std::int64_t>(next.value()));
  if (write_.step() != SQLITE_DONE) {
    auto failed = failure("write");
    // The commit's bytes may be on the disk although it could not say so.
    if (file_->code() == SQLITE_IOERR) failed.error().code = Code::kTimeout;
    return failed;
  }
  if (file_->changes() == 1) return next;
  return fail(Code::kConflict, "coordinator file " + options_.path + ": the register is not at " +
                                   "epoch " + std::to_string(expected.value()) + " any more");
}

Result<void> Database::keep_alive(const SessionId& session, UnixMillis until) {
  keep_alive_.bind(1, options_.pool);
  keep_alive_.bind(2, session.value());
  keep_alive_.bind(3, until.value());
  return run(keep_alive_);
}

Result<void> Database::end_lease(const SessionId& session) {
  end_lease_.bind(1, options_.pool);
  end_lease_.bind(2, session.value());
  return run(end_lease_);
}

Result<std::vector<SessionId>> Database::alive(UnixMillis now) {
  const sqlite::Reset reset(alive_);
  alive_.bind(1, options_.pool);
  alive_.bind(2, now.value());
  std::vector<SessionId> sessions;
  int code = SQLITE_ROW;
  while ((code = alive_.step()) == SQLITE_ROW) sessions.emplace_back(alive_.text(0));
  if (code != SQLITE_DONE) return failure("read");
  return sessions;
}

Result<std::int64_t> Database::data_version() {
  const sqlite::Reset reset(data_version_);
  if (data_version_.step() != SQLITE_ROW) return failure("read");
  return data_version_.integer(0);
}

Result<void> Database::execute(const std::string& sql) {
  if (!file_->execute(sql)) return failure("set up");
  return {};
}

Result<sqlite::Statement> Database::prepare(std::string_view sql) {
  sqlite::Statement statement = file_->prepare(sql);
  if (!statement.good()) return failure("set up");
  return statement;
}

Result<void> Database::run(sqlite::Statement& statement) {
  const sqlite::Reset reset(statement);
  if (statement.step() != SQLITE_DONE) return failure("write");
  return {};
}

std::unexpected<Error> Database::failure(std::string_view what) const {
  return fail(Code::kUnavailable, "coordinator file " + options_.path + ": cannot " +
                                      std::string(what) + ": " + file_->message() + "; " +
                                      std::string(advice(file_->code())));
}

}  // namespace cleave::coord
