// Prints the register map as Markdown: docs/register_map.md.
#include <fmt/format.h>

#include "platform/register_map.h"

int main() {
  fmt::print("{}", mrc::register_map_markdown());
}
