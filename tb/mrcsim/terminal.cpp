#include "mrcsim/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace mrc {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool redraws_lines(int file) {
  return isatty(file) != 0 && environment("TERM") != "dumb";
}

bool shows_colours(int file) {
  return redraws_lines(file) && environment("NO_COLOR").empty();
}

}  // namespace mrc
