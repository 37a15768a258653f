#include "history/database.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace cleave::history {
namespace {

constexpr int kVersion = 1;
constexpr int kBusyMillis = 500;  // another reader of the file, such as a person with sqlite3
constexpr std::uint64_t kPageBytes = 4'096;
constexpr std::uint32_t kNodeKind = 0;
constexpr std::uint32_t kStripKind = 1;

constexpr milliseconds kFine{10'000};
constexpr milliseconds kMinute{60'000};
constexpr milliseconds kTenMinutes{600'000};
constexpr milliseconds kFineFor{2 * 3'600'000};
constexpr milliseconds kMinuteFor{24 * 3'600'000};
constexpr milliseconds kKeptFor{std::int64_t{7} * 24 * 3'600'000};

constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS heat (
    resolution INTEGER NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL, id INTEGER NOT NULL,
    load INTEGER NOT NULL, requests INTEGER NOT NULL, writes INTEGER NOT NULL,
    PRIMARY KEY (resolution, at, kind, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS decisions_at ON decisions (at);
)";

}  // namespace

std::unexpected<Error> Database::error(const std::string& what) const {
  const bool full = connection_.full();
  const bool foreign = connection_.code() == SQLITE_NOTADB || connection_.code() == SQLITE_CORRUPT;
  return fail(full      ? Code::kExhausted
              : foreign ? Code::kInvalid
                        : Code::kUnavailable,
              "history " + path_ + ": " + what + ": " + connection_.message() +
                  (full ? " (the disk or the history's own limit is full)" : ""));
}

Result<void> Database::run(const std::string& sql) {
  if (connection_.execute(sql)) return {};
  return error("could not run '" + sql.substr(0, 40) + "'");
}

Result<Database> Database::open(const std::string& path, std::uint64_t bytes_max) {
  Database database(path);
  const sqlite::Connection& connection = database.connection_;
  if (connection.code() != SQLITE_OK) return database.error("could not open it");
  sqlite3_busy_timeout(connection.handle(), kBusyMillis);
  {
    sqlite::Statement version = connection.prepare("PRAGMA user_version");
    if (version.step() != SQLITE_ROW) return database.error("could not read it");
    if (version.integer(0) > kVersion) {
      return fail(Code::kInvalid, "history " + path + ": it has version " +
                                      std::to_string(version.integer(0)) +
                                      ", made by a newer program; this one reads version " +
                                      std::to_string(kVersion));
    }
  }
  const std::string pages = std::to_string(std::max<std::uint64_t>(bytes_max / kPageBytes, 64));
  for (const std::string& each :
       {std::string("PRAGMA auto_vacuum = INCREMENTAL"), std::string("PRAGMA journal_mode = WAL"),
        std::string("PRAGMA synchronous = NORMAL"),
        std::string("PRAGMA journal_size_limit = 4194304"), "PRAGMA max_page_count = " + pages,
        std::string(kSchema), "PRAGMA user_version = " + std::to_string(kVersion)}) {
    if (const auto done = database.run(each); !done) return std::unexpected(done.error());
  }
  return database;
}

Result<void> Database::add(const HeatPoint& point) {
  for (const bool again : {false, true}) {
    if (const auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
    sqlite::Statement insert =
        connection_.prepare("INSERT OR REPLACE INTO heat VALUES (?, ?, ?, ?, ?, ?, ?)");
    bool good = true;
    for (const auto& [kind, values] :
         {std::pair(kNodeKind, &point.nodes), std::pair(kStripKind, &point.strips)}) {
      for (const HeatValue& each : *values) {
        insert.bind(1, std::int64_t{point.covers.count()});
        insert.bind(2, point.at.value());
        insert.bind(3, kind);
        insert.bind(4, each.id);
        insert.bind(5, each.load);
        insert.bind(6, each.requests);
        insert.bind(7, each.writes);
        good = good && insert.step() == SQLITE_DONE;
        insert.reset();
      }
    }
    if (good) {
      if (const auto ended = run("COMMIT"); ended) return ended;
    }
    const std::unexpected<Error> failed = error("could not add heat");
    insert.reset();
    (void)run("ROLLBACK");
    if (again || failed.error().code != Code::kExhausted) return failed;
    if (const auto made_room = drop_oldest(); !made_room) return failed;
  }
  return {};
}

Result<void> Database::add(UnixMillis at, const std::string& decision) {
  for (const bool again : {false, true}) {
    sqlite::Statement insert =
        connection_.prepare("INSERT INTO decisions (at, body) VALUES (?, ?)");
    insert.bind(1, at.value());
    insert.bind(2, decision);
    if (insert.step() == SQLITE_DONE) return {};
    const std::unexpected<Error> failed = error("could not add a decision");
    insert.reset();
    if (again || failed.error().code != Code::kExhausted) return failed;
    if (const auto made_room = drop_oldest(); !made_room) return failed;
  }
  return {};
}

Result<std::vector<HeatPoint>> Database::heat(UnixMillis from, UnixMillis to,
                                              std::size_t points_max) {
  // All resolutions lie side by side without overlap; a coarser answer is made here where too many
  // points were asked for.
  sqlite::Statement select = connection_.prepare(
      "SELECT at, resolution, kind, id, load, requests, writes FROM heat "
      "WHERE at >= ? AND at < ? ORDER BY at, resolution, kind, id");
  select.bind(1, from.value());
  select.bind(2, to.value());
  std::vector<HeatPoint> points;
  int state = select.step();
  for (; state == SQLITE_ROW; state = select.step()) {
    const UnixMillis at{select.integer(0)};
    const milliseconds covers{select.integer(1)};
    if (points.empty() || points.back().at != at || points.back().covers != covers) {
      points.push_back({.at = at, .covers = covers});
    }
    const HeatValue value{static_cast<std::uint32_t>(select.natural(3)), select.natural(4),
                          select.natural(5), select.natural(6)};
    const bool node = select.natural(2) == kNodeKind;
    (node ? points.back().nodes : points.back().strips).push_back(value);
  }
  if (state != SQLITE_DONE) return error("could not read heat");
  if (points.size() <= points_max) return points;
  const std::size_t step = (points.size() + points_max - 1) / std::max<std::size_t>(points_max, 1);
  std::vector<HeatPoint> thinned;
  for (std::size_t at = 0; at < points.size(); at += step) thinned.push_back(std::move(points[at]));
  return thinned;
}

Result<std::vector<StoredDecision>> Database::decisions(UnixMillis since, std::size_t count_max) {
  sqlite::Statement select = connection_.prepare(
      "SELECT number, at, body FROM decisions WHERE at >= ? "
      "ORDER BY number DESC LIMIT ?");
  select.bind(1, since.value());
  select.bind(2, static_cast<std::uint64_t>(count_max));
  std::vector<StoredDecision> result;
  int state = select.step();
  for (; state == SQLITE_ROW; state = select.step()) {
    result.push_back({select.natural(0), UnixMillis{select.integer(1)}, select.text(2)});
  }
  if (state != SQLITE_DONE) return error("could not read decisions");
  std::ranges::reverse(result);
  return result;
}

Result<void> Database::prune(UnixMillis now) {
  const auto ago = [&](milliseconds time, milliseconds step) {
    return UnixMillis{(now.value() - time.count()) / step.count() * step.count()};
  };
  if (const auto done = coarsen(ago(kFineFor, kMinute), kFine, kMinute); !done) return done;
  if (const auto done = coarsen(ago(kMinuteFor, kTenMinutes), kMinute, kTenMinutes); !done) {
    return done;
  }
  const std::string oldest = std::to_string(now.value() - kKeptFor.count());
  if (const auto done = run("DELETE FROM heat WHERE at < " + oldest); !done) return done;
  if (const auto done = run("DELETE FROM decisions WHERE at < " + oldest); !done) return done;
  return run("PRAGMA incremental_vacuum(256)");
}

// What began before `before` at resolution `from` becomes means over `to`. Missing rows are zeros.
Result<void> Database::coarsen(UnixMillis before, milliseconds from, milliseconds to) {
  const std::string fine = std::to_string(from.count());
  const std::string coarse = std::to_string(to.count());
  const std::string chosen =
      " FROM heat WHERE resolution = " + fine + " AND at < " + std::to_string(before.value());
  const auto mean = [&](const std::string& column) {
    return "sum(" + column + ") * " + fine + " / " + coarse;
  };
  const std::string insert = "INSERT OR REPLACE INTO heat SELECT " + coarse + ", at / " + coarse +
                             " * " + coarse + ", kind, id, " + mean("load") + ", " +
                             mean("requests") + ", " + mean("writes") + chosen +
                             " GROUP BY 2, 3, 4";
  const auto done = run("BEGIN IMMEDIATE; " + insert + "; DELETE" + chosen + "; COMMIT");
  if (!done) (void)run("ROLLBACK");
  return done;
}

// Makes room when the limit is reached: the oldest quarter of the heat goes, else of the decisions.
Result<void> Database::drop_oldest() {
  const auto drop = [&](const std::string& table) {
    return run("DELETE FROM " + table +
               " WHERE at < (SELECT min(at) + (max(at) - min(at)) / 4 + 1 " + "FROM " + table +
               ")");
  };
  if (const auto done = drop("heat"); !done) return done;
  return drop("decisions");
}

}  // namespace cleave::history
