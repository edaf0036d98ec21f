#include "traffic/line_reader.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "parameters/input_file.h"
#include "traffic/trace_error.h"

namespace mrc {

bool LineReader::next() {
  text_.clear();
  ++number_;
  int character = in_.get();
  if (character == std::istream::traits_type::eof()) return false;
  for (; character != std::istream::traits_type::eof() && character != '\n'; character = in_.rdbuf()->sbumpc()) {
    text_.push_back(static_cast<char>(character));
    if (text_.size() > kMostCharacters)
      throw TraceError(place(), fmt::format("the line is longer than {} characters", kMostCharacters));
  }
  if (text_.ends_with('\r')) text_.pop_back();
  if (number_ == 1 && text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
  return true;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view space = " \t";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(space); at != std::string_view::npos;
       at = line.find_first_not_of(space, at)) {
    const std::size_t end = std::min(line.find_first_of(space, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

namespace {

std::optional<std::uint64_t> integer_within(std::string_view text, std::uint64_t minimum, std::uint64_t maximum) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!whole || value < minimum || value > maximum) return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t parse_integer(std::string_view text, const LineReader& lines, std::string_view what,
                            std::uint64_t minimum, std::uint64_t maximum) {
  // The place is text of its own, made only where it is needed: a trace has millions of numbers.
  if (const auto value = integer_within(text, minimum, maximum)) return *value;
  return parse_integer(text, lines.place(), what, minimum, maximum);
}

std::uint64_t parse_integer(std::string_view text, const std::string& place, std::string_view what,
                            std::uint64_t minimum, std::uint64_t maximum) {
  if (const auto value = integer_within(text, minimum, maximum)) return *value;
  throw TraceError(place, fmt::format("{} is \"{}\"; allowed: an integer {} … {}", what, text, minimum, maximum));
}

}  // namespace mrc
