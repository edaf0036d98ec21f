// Files that a user names as input, and names as they are printed.
#pragma once

#include <string>
#include <string_view>

namespace mrc {

/// What some editors and spreadsheets put in front of UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Why `path` cannot be read as a file, as a phrase behind its name; empty where it can be. Pipes and devices are
/// refused: they may never end, and a second reading would not see the same.
std::string why_unreadable(const std::string& path);

/// `text` with control characters as \xNN, so that a name cannot act on a terminal or pass for a second line.
std::string printable(std::string_view text);

/// `argument` as a shell takes it: in single quotes where it has more than letters, digits and harmless signs.
std::string shell_quoted(std::string_view argument);

}  // namespace mrc
