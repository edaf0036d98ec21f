// Prints the register map: docs/register_map.md and docs/register_map.rdl.
#include <string_view>

#include <fmt/format.h>

#include "platform/register_map.h"

// SystemC's library asks for it; no kernel runs here.
extern "C" int sc_main(int, char**) {
  return 0;
}

int main(int count, char** words) {
  const std::string_view format = count == 2 ? words[1] : "";
  if (format == "markdown") {
    fmt::print("{}", mrc::register_map_markdown());
  } else if (format == "systemrdl") {
    fmt::print("{}", mrc::register_map_systemrdl());
  } else {
    fmt::print(stderr, "mrcsim_register_map: the format is markdown or systemrdl\n");
    return 2;
  }
  return 0;
}
