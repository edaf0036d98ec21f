#include "results/vcd_wave_writer.h"

#include <fmt/ostream.h>

namespace mrc {
namespace {

/// Identifier codes are printable ASCII without the space, shortest first.
std::string identifier(WaveWriter::Handle handle) {
  constexpr std::uint32_t first = '!';
  constexpr std::uint32_t count = '~' - '!' + 1;
  std::string code;
  do {
    code += static_cast<char>(first + handle % count);
    handle /= count;
  } while (handle-- > 0);
  return code;
}

}  // namespace

VcdWaveWriter::VcdWaveWriter(const std::string& path)
    : output_(path, {"a VCD file", "$version mrcsim $end"}), file_(output_.stream()) {
  file_ << "$version mrcsim $end\n$timescale 1 ps $end\n";
}

void VcdWaveWriter::open_scope(std::string_view name) {
  fmt::print(file_, "$scope module {} $end\n", name);
}

void VcdWaveWriter::close_scope() {
  file_ << "$upscope $end\n";
}

WaveWriter::Handle VcdWaveWriter::add_bits(std::string_view name, std::uint32_t width) {
  widths_.push_back(width);
  const auto handle = static_cast<Handle>(widths_.size() - 1);
  const std::string range = width > 1 ? fmt::format(" [{}:0]", width - 1) : "";
  fmt::print(file_, "$var wire {} {} {}{} $end\n", width, identifier(handle), name, range);
  return handle;
}

WaveWriter::Handle VcdWaveWriter::add_string(std::string_view name) {
  widths_.push_back(0);
  const auto handle = static_cast<Handle>(widths_.size() - 1);
  fmt::print(file_, "$var string 1 {} {} $end\n", identifier(handle), name);
  return handle;
}

void VcdWaveWriter::begin() {
  file_ << "$enddefinitions $end\n";
}

void VcdWaveWriter::set_time(TimePs time_ps) {
  fmt::print(file_, "#{}\n", time_ps);
}

void VcdWaveWriter::change_bits(Handle handle, std::uint64_t value) {
  if (widths_[handle] == 1) {
    fmt::print(file_, "{}{}\n", value & 1, identifier(handle));
  } else {
    fmt::print(file_, "b{:b} {}\n", value, identifier(handle));
  }
}

void VcdWaveWriter::change_string(Handle handle, std::string_view value) {
  fmt::print(file_, "s{} {}\n", value, identifier(handle));
}

void VcdWaveWriter::close() {
  output_.commit();
}

}  // namespace mrc
