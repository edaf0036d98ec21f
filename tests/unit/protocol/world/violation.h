// A property that a run has broken.
#pragma once

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace mrc::world {

class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
  if (!holds) throw Violation(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace mrc::world
