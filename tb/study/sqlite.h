// SQLite with destructors: a connection and a prepared statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace mrc {

class Sqlite;

/// Bound values go to ?1, ?2, …; columns count from 0.
class SqliteStatement {
 public:
  SqliteStatement(Sqlite& database, std::string_view sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& bind(int index, std::string_view text);
  SqliteStatement& bind(int index, std::int64_t number);
  SqliteStatement& bind(int index, double number);
  SqliteStatement& bind_null(int index);
  /// True while there is a row. Throws StudyError with SQLite's message.
  bool step();
  /// For statements without rows.
  void run();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  Sqlite& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Sqlite {
 public:
  /// Opens or makes the file (or only opens it, to read); throws StudyError.
  Sqlite(const std::string& path, bool read_only);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  void execute(const std::string& sql);
  std::int64_t last_id() const;

 private:
  friend class SqliteStatement;
  [[noreturn]] void fail() const;

  std::string path_;
  sqlite3* handle_ = nullptr;
};

}  // namespace mrc
