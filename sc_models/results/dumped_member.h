// Members of a JSON object as mrcsim writes it, found without parsing the object: a result may have megabytes.
#pragma once

#include <string>
#include <string_view>

namespace mrc {

/// The text of the value of member `name` of `object`, which is written with two spaces for each level; empty where
/// there is none.
inline std::string_view dumped_member(std::string_view object, std::string_view name) {
  const std::string key = "\n  \"" + std::string(name) + "\": ";
  const std::size_t found = object.find(key);
  if (found == std::string_view::npos) return {};
  const std::size_t from = found + key.size();
  const std::size_t next = object.find("\n  \"", from);
  if (next != std::string_view::npos) return object.substr(from, next - 1 - from);  // without its comma
  const std::size_t end = object.rfind("\n}");
  return end == std::string_view::npos || end < from ? std::string_view() : object.substr(from, end - from);
}

}  // namespace mrc
