// Errors of invalid traces: one line that begins with file and place.
#pragma once

#include <stdexcept>
#include <string>

namespace mrc {

class TraceError : public std::runtime_error {
 public:
  TraceError(const std::string& place, const std::string& what) : std::runtime_error(place + ": " + what) {}
};

}  // namespace mrc
