// A file of signals over time, as a waveform viewer reads it. Signals are declared first, in scopes; then changes
// follow in order of time. The file appears under its name when close() has written it whole; without close() nothing
// stays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mrc/types.h"

namespace mrc {

class WaveWriter {
 public:
  using Handle = std::uint32_t;

  virtual ~WaveWriter() = default;
  virtual void open_scope(std::string_view name) = 0;
  virtual void close_scope() = 0;
  /// A vector of `width` bits, 1 … 64.
  virtual Handle add_bits(std::string_view name, std::uint32_t width) = 0;
  virtual Handle add_string(std::string_view name) = 0;
  /// The declarations are over.
  virtual void begin() = 0;

  /// Changes that follow happen at `time_ps`, which grows.
  virtual void set_time(TimePs time_ps) = 0;
  virtual void change_bits(Handle handle, std::uint64_t value) = 0;
  virtual void change_string(Handle handle, std::string_view value) = 0;
  /// Throws OutputError.
  virtual void close() = 0;
};

/// By the ending of `path`: .fst or .vcd, anything else throws OutputError, as does a place that cannot be written to.
std::unique_ptr<WaveWriter> make_wave_writer(const std::string& path);

}  // namespace mrc
