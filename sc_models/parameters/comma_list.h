// Lists in the text of a parameter.
#pragma once

#include <string_view>
#include <vector>

namespace mrc {

/// Entries between commas, without the blanks around them. What follows the last comma is one if it is not empty.
inline std::vector<std::string_view> comma_list(std::string_view text) {
  std::vector<std::string_view> entries;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view entry = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    while (entry.ends_with(' ')) entry.remove_suffix(1);
    if (entry.empty() && text.empty()) break;
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace mrc
