#include "mpi/launcher.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace mrc {
namespace {

std::uint32_t first_set(std::initializer_list<const char*> names, std::uint32_t otherwise) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name)) return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  }
  return otherwise;
}

}  // namespace

std::uint32_t launched_processes() {
  return std::max(first_set({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1), 1U);
}

std::uint32_t launched_process() {
  return first_set({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0);
}

}  // namespace mrc
