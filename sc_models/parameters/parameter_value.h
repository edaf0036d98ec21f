// What scenario files and the command line give, and how it is refused.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mrc {

/// A value as a scenario file or the command line gives it.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

std::string to_string(const ParameterValue& value);

enum class ParameterType : std::uint8_t { boolean, integer, real, word, text };

/// Bad input about a parameter: one line that begins with its place.
class ParameterError : public std::runtime_error {
 public:
  ParameterError(const std::string& place, const std::string& what) : std::runtime_error(place + ": " + what) {}
};

/// Of `candidates`, the one with the smallest edit distance to `word`; empty without candidates.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace mrc
