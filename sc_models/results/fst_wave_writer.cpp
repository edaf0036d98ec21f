#include "results/fst_wave_writer.h"

#include <fmt/format.h>
#include <gtkwave/fstapi.h>

#include "results/fst_errors.h"
#include "results/output_directory.h"

namespace mrc {
namespace {

constexpr int kTimescalePs = -12;
/// Files of one run are the same whenever it ran.
constexpr const char* kNoDate = "";
constexpr const char* kWriter = "mrcsim";
/// The version as it is in the file: padded with zeros, which no text has.
constexpr std::string_view kMark("mrcsim\0\0\0\0", 10);

}  // namespace

FstWaveWriter::FstWaveWriter(const std::string& path) : output_(path, {"an FST file", kMark}) {
  mrcsim_fst_clear_errors();
  context_ = fstWriterCreate(output_.temporary().c_str(), 1);
  if (context_ == nullptr) throw OutputError(path + ": cannot be written");
  output_.lock_again();
  fstWriterSetVersion(context_, kWriter);
  fstWriterSetDate(context_, kNoDate);
  fstWriterSetTimescale(context_, kTimescalePs);
  fstWriterSetPackType(context_, FST_WR_PT_LZ4);
}

FstWaveWriter::~FstWaveWriter() {
  if (context_ == nullptr) return;
  fstWriterClose(context_);
}

void FstWaveWriter::open_scope(std::string_view name) {
  fstWriterSetScope(context_, FST_ST_VCD_MODULE, std::string(name).c_str(), nullptr);
}

void FstWaveWriter::close_scope() {
  fstWriterSetUpscope(context_);
}

WaveWriter::Handle FstWaveWriter::add_bits(std::string_view name, std::uint32_t width) {
  const std::string full = width > 1 ? fmt::format("{} [{}:0]", name, width - 1) : std::string(name);
  signals_.push_back({fstWriterCreateVar(context_, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, width, full.c_str(), 0), width});
  return static_cast<Handle>(signals_.size() - 1);
}

WaveWriter::Handle FstWaveWriter::add_string(std::string_view name) {
  const std::string full(name);
  signals_.push_back({fstWriterCreateVar(context_, FST_VT_GEN_STRING, FST_VD_IMPLICIT, 0, full.c_str(), 0), 0});
  return static_cast<Handle>(signals_.size() - 1);
}

void FstWaveWriter::set_time(TimePs time_ps) {
  fstWriterEmitTimeChange(context_, time_ps);
}

void FstWaveWriter::change_bits(Handle handle, std::uint64_t value) {
  const Signal& signal = signals_[handle];
  digits_.assign(signal.width, '0');
  for (std::uint32_t bit = 0; bit < signal.width; ++bit) {
    if ((value >> bit & 1) != 0) digits_[signal.width - 1 - bit] = '1';
  }
  fstWriterEmitValueChange(context_, signal.fst_handle, digits_.data());
}

void FstWaveWriter::change_string(Handle handle, std::string_view value) {
  fstWriterEmitVariableLengthValueChange(context_, signals_[handle].fst_handle, value.data(),
                                         static_cast<std::uint32_t>(value.size()));
}

void FstWaveWriter::close() {
  const bool seek_failed = fstWriterGetFseekFailed(context_) != 0;
  fstWriterClose(context_);
  context_ = nullptr;
  output_.commit(!seek_failed && mrcsim_fst_errors() == 0);
}

}  // namespace mrc
