#include "cosim/bench/verilated_print.h"

#include "cosim/bench/verilated_failure.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include <verilated.h>

namespace mrc::cosim {
namespace {

thread_local FailedAssertion* listener = nullptr;
thread_local std::string announced;  // the assertion that Verilator named last

/// "[12] %Error: FILE:LINE: Assertion failed in TOP.block.u_assertions.NAME: …" Empty: the text is another one.
std::string name_in(std::string_view text) {
  constexpr std::string_view kBefore = "Assertion failed in ";
  const std::size_t at = text.find(kBefore);
  if (at == std::string_view::npos || text.find("Warning") < at) return {};
  std::string_view path = text.substr(at + kBefore.size());
  path = path.substr(0, path.find_first_of(": \n"));
  return std::string(path.substr(path.rfind('.') + 1));
}

}  // namespace

FailureListener::FailureListener(FailedAssertion& failed) {
  listener = &failed;
}

FailureListener::~FailureListener() {
  listener = nullptr;
}

}  // namespace mrc::cosim

using mrc::cosim::announced;
using mrc::cosim::listener;

int mrcsim_verilated_print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  if (listener != nullptr) announced = mrc::cosim::name_in(text);
  if (listener == nullptr || announced.empty()) std::fputs(text.c_str(), stdout);
  return length;
}

/// A stop that nobody listens to ends the program, as Verilator has it.
void vl_stop(const char* file, int line, const char* hierarchy) {
  if (listener == nullptr) vl_fatal(file, line, hierarchy, "Verilog $stop");
  if (!listener->name.empty()) return;
  listener->name = announced.empty() ? "$stop" : announced;
  listener->place = std::filesystem::path(file).filename().string() + ":" + std::to_string(line);
}
