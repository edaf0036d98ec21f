// VCD (IEEE 1364), with GTKWave's string variables for names of states.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "results/output_file.h"
#include "results/wave_writer.h"

namespace mrc {

class VcdWaveWriter final : public WaveWriter {
 public:
  /// Throws OutputError if the file cannot be written beside `path`.
  explicit VcdWaveWriter(const std::string& path);

  void open_scope(std::string_view name) override;
  void close_scope() override;
  Handle add_bits(std::string_view name, std::uint32_t width) override;
  Handle add_string(std::string_view name) override;
  void begin() override;
  void set_time(TimePs time_ps) override;
  void change_bits(Handle handle, std::uint64_t value) override;
  void change_string(Handle handle, std::string_view value) override;
  void close() override;

 private:
  OutputFile output_;
  std::ofstream& file_;
  std::vector<std::uint32_t> widths_;  ///< by handle, 0: a string
};

}  // namespace mrc
