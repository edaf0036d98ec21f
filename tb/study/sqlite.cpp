#include "study/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "parameters/input_file.h"
#include "study/study_error.h"

namespace mrc {

Sqlite::Sqlite(const std::string& path, bool read_only) : path_(path) {
  // A file that is not there is made, where that is wanted.
  if (const std::string why = why_unreadable(path); !why.empty() && (read_only || why != "does not exist")) {
    throw StudyError(fmt::format("{}: {}", path, why));
  }
  const int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    throw StudyError(fmt::format("{}: {}", path, why));
  }
  sqlite3_busy_timeout(handle_, 10'000);
}

Sqlite::~Sqlite() {
  sqlite3_close(handle_);
}

void Sqlite::fail() const {
  throw StudyError(fmt::format("{}: {}", path_, sqlite3_errmsg(handle_)));
}

void Sqlite::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Sqlite::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

SqliteStatement::SqliteStatement(Sqlite& database, std::string_view sql) : database_(database) {
  const int length = static_cast<int>(sql.size());
  if (sqlite3_prepare_v2(database.handle_, sql.data(), length, &statement_, nullptr) != SQLITE_OK) database.fail();
}

SqliteStatement::~SqliteStatement() {
  sqlite3_finalize(statement_);
}

SqliteStatement& SqliteStatement::bind(int index, std::string_view text) {
  const int length = static_cast<int>(text.size());
  if (sqlite3_bind_text(statement_, index, text.data(), length, SQLITE_TRANSIENT) != SQLITE_OK) database_.fail();
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, std::int64_t number) {
  if (sqlite3_bind_int64(statement_, index, number) != SQLITE_OK) database_.fail();
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, double number) {
  if (sqlite3_bind_double(statement_, index, number) != SQLITE_OK) database_.fail();
  return *this;
}

SqliteStatement& SqliteStatement::bind_null(int index) {
  if (sqlite3_bind_null(statement_, index) != SQLITE_OK) database_.fail();
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail();
  return false;
}

void SqliteStatement::run() {
  while (step()) {
  }
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double SqliteStatement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string SqliteStatement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

}  // namespace mrc
