// FST, GTKWave's compressed format, through GTKWave's own writer.
#pragma once

#include <string>
#include <vector>

#include "results/output_file.h"
#include "results/wave_writer.h"

namespace mrc {

class FstWaveWriter final : public WaveWriter {
 public:
  /// Throws OutputError if the file cannot be written beside `path`.
  explicit FstWaveWriter(const std::string& path);
  ~FstWaveWriter() override;
  FstWaveWriter(const FstWaveWriter&) = delete;
  FstWaveWriter& operator=(const FstWaveWriter&) = delete;

  void open_scope(std::string_view name) override;
  void close_scope() override;
  Handle add_bits(std::string_view name, std::uint32_t width) override;
  Handle add_string(std::string_view name) override;
  void begin() override {}
  void set_time(TimePs time_ps) override;
  void change_bits(Handle handle, std::uint64_t value) override;
  void change_string(Handle handle, std::string_view value) override;
  void close() override;

 private:
  struct Signal {
    std::uint32_t fst_handle;
    std::uint32_t width;
  };

  OutputFile output_;
  void* context_ = nullptr;
  std::vector<Signal> signals_;
  std::string digits_;
};

}  // namespace mrc
