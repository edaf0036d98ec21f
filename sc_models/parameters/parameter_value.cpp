#include "parameters/parameter_value.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace mrc {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

/// Each part of `word`, between its dots, is in `candidate`, in this order: pcie.tags is in pcie.read_tags.
bool has_parts_of(std::string_view candidate, std::string_view word) {
  if (word.size() < 3) return false;
  std::size_t at = 0;
  while (true) {
    const std::size_t dot = word.find('.');
    const std::string_view part = word.substr(0, dot);
    at = candidate.find(part, at);
    if (at == std::string_view::npos) return false;
    if (dot == std::string_view::npos) return true;
    at += part.size();
    word.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Who stops early or leaves the beginning away means the shortest that goes on so.
  const auto distance = [&](const std::string& candidate) {
    const bool edge = word.size() > 1 && (candidate.starts_with(word) || candidate.ends_with(word));
    const bool part = edge || has_parts_of(candidate, word);
    return std::pair(edge ? 0 : part ? 1 : 2, part ? candidate.size() : edit_distance(word, candidate));
  };
  const auto it =
      std::min_element(candidates.begin(), candidates.end(),
                       [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  if (it == candidates.end()) return std::string();
  // What shares little with the word would only mislead.
  const auto [kind, edits] = distance(*it);
  return kind == 2 && 2 * edits > std::max(word.size(), it->size()) ? "none is similar" : *it;
}

}  // namespace mrc
