#include "results/wave_writer.h"

#include <filesystem>

#include "results/fst_wave_writer.h"
#include "results/output_directory.h"
#include "results/vcd_wave_writer.h"

namespace mrc {

std::unique_ptr<WaveWriter> make_wave_writer(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (std::filesystem::is_directory(path)) throw OutputError(path + ": is a folder; --waves takes a file");
  if (ending == ".fst") return std::make_unique<FstWaveWriter>(path);
  if (ending == ".vcd") return std::make_unique<VcdWaveWriter>(path);
  throw OutputError(path + ": --waves takes a file that ends in .fst or .vcd");
}

}  // namespace mrc
