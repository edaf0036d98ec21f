// Lines of a text trace with their numbers, one at a time.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace mrc {

class LineReader {
 public:
  static constexpr std::size_t kMostCharacters = 65'536;

  /// `in` outlives the reader; `name` is for errors.
  LineReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// False at the end. A carriage return before the line's end is not part of it. Throws TraceError for a line of more
  /// than kMostCharacters.
  bool next();
  std::string_view text() const { return text_; }
  std::uint64_t number() const { return number_; }
  /// "name:line".
  std::string place() const { return name_ + ":" + std::to_string(number_); }
  const std::string& name() const { return name_; }

 private:
  std::istream& in_;
  std::string name_;
  std::string text_;
  std::uint64_t number_ = 0;
};

/// Words between spaces and tabs.
std::vector<std::string_view> words_of(std::string_view line);

/// `text` as a whole number within the range; throws TraceError, saying what `what` is and what is allowed.
std::uint64_t parse_integer(std::string_view text, const std::string& place, std::string_view what,
                            std::uint64_t minimum, std::uint64_t maximum);
/// As above, in the line at which `lines` is.
std::uint64_t parse_integer(std::string_view text, const LineReader& lines, std::string_view what,
                            std::uint64_t minimum, std::uint64_t maximum);

}  // namespace mrc
