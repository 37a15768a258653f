// One SQLite file and its statements, blocking: what the coordinator's register and the history
// share. Errors are SQLite's own codes; each owner knows what a person can do about its file.
//
// Threads: one at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cleave::sqlite {

// One prepared statement, or none where SQLite refused its text: then `step` is an error. What is
// bound as text must outlive the steps.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* connection, std::string_view sql);

  bool good() const { return statement_ != nullptr; }

  // Positions count from 1, columns from 0.
  void bind(int position, std::int64_t value);
  void bind(int position, std::uint64_t value);  // at most 2^63 - 1; more is that
  void bind(int position, std::uint32_t value) { bind(position, std::uint64_t{value}); }
  void bind(int position, std::string_view text);

  // SQLITE_ROW, SQLITE_DONE or an error.
  int step();
  // Ends its transaction; what was bound stays bound.
  void reset();

  std::int64_t integer(int column) const;
  std::uint64_t natural(int column) const;  // 0 where a negative number stands
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Ends a statement's transaction when the scope ends.
class Reset {
 public:
  explicit Reset(Statement& statement) : statement_(statement) {}
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;
  ~Reset() { statement_.reset(); }

 private:
  Statement& statement_;
};

class Connection {
 public:
  // Opens the file, made where there is none. Also after a failure there is a connection, which
  // says why: `code()` is SQLITE_OK where it is open.
  explicit Connection(const std::string& path);

  sqlite3* handle() const { return handle_.get(); }
  Statement prepare(std::string_view sql) const { return {handle_.get(), sql}; }
  // False: `code` and `message` say why.
  bool execute(const std::string& sql) const;

  int code() const;  // the latest call's primary result code
  std::string message() const;
  // No room: the disk is full, or the file has reached its own limit.
  bool full() const;
  int changes() const { return sqlite3_changes(handle_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace cleave::sqlite
