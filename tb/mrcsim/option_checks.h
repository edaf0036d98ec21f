// Checks of numbers on the command line; the message gives the allowed range.
#pragma once

#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace mrc {

inline CLI::Validator allow_number(const char* allowed, bool (*is_allowed)(double)) {
  return CLI::Validator(
      [allowed, is_allowed](const std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && is_allowed(value)) return std::string();
        return fmt::format("{} is not allowed; allowed: {}", text, allowed);
      },
      allowed);
}

inline CLI::Validator positive_number() {
  return allow_number("a number above 0", [](double value) { return value > 0; });
}

inline CLI::Validator number_from_zero() {
  return allow_number("0 or more", [](double value) { return value >= 0; });
}

}  // namespace mrc
