// Prints the register map as Markdown: docs/register_map.md.
#include <fmt/format.h>

#include "platform/register_map.h"

// SystemC's library asks for it; no kernel runs here.
extern "C" int sc_main(int, char**) {
  return 0;
}

int main() {
  fmt::print("{}", mrc::register_map_markdown());
}
