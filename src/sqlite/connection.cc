#include "sqlite/connection.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/check.h"

namespace cleave::sqlite {

Statement::Statement(sqlite3* connection, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v3(connection, sql.data(), static_cast<int>(sql.size()),
                     SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
}

void Statement::bind(int position, std::int64_t value) {
  if (good()) CHECK(sqlite3_bind_int64(statement_.get(), position, value) == SQLITE_OK);
}

void Statement::bind(int position, std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  bind(position, static_cast<std::int64_t>(std::min(value, kMost)));
}

void Statement::bind(int position, std::string_view text) {
  if (!good()) return;
  const int code = sqlite3_bind_text64(statement_.get(), position, text.data(), text.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
  CHECK(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM);
}

int Statement::step() { return good() ? sqlite3_step(statement_.get()) : SQLITE_ERROR; }

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::uint64_t Statement::natural(int column) const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(integer(column), 0));
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

Connection::Connection(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
}

bool Connection::execute(const std::string& sql) const {
  return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

int Connection::code() const {
  return handle_ ? sqlite3_errcode(handle_.get()) & 0xff : SQLITE_NOMEM;
}

std::string Connection::message() const {
  return handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
}

bool Connection::full() const {
  return code() == SQLITE_FULL || (handle_ && sqlite3_system_errno(handle_.get()) == ENOSPC);
}

}  // namespace cleave::sqlite
