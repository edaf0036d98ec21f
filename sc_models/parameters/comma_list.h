// Lists in the text of a parameter.
#pragma once

#include <string_view>
#include <vector>

namespace mrc {

/// Without the blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Entries between commas, without the blanks around them. An empty entry after the last comma is left out.
inline std::vector<std::string_view> comma_list(std::string_view text) {
  std::vector<std::string_view> entries;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view entry = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (entry.empty() && text.empty()) break;
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace mrc
