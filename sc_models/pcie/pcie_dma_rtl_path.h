// pcie_dma's splitter, tag and reorder part by RTL: what the box decides is asked of the engine too and compared. In
// `rtl` mode the box goes on with the engine's answer, in `shadow` mode with its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rtl_path.h"
#include "mrc/types.h"
#include "pcie/pcie_dma_engine.h"

namespace mrc {

class PcieDmaRtlPath : public RtlPath {
 public:
  /// `clock_period_ps`: of the core clock, in which messages give the time.
  PcieDmaRtlPath(RtlMode mode, std::unique_ptr<PcieDmaEngine> engine, NodeId node, TimePs clock_period_ps,
                 RtlTiming timing = RtlTiming::transaction)
      : RtlPath("pcie_dma", mode, timing), engine_(std::move(engine)), node_(node), clock_period_ps_(clock_period_ps) {}

  void read(std::uint32_t job, std::uint64_t address, std::uint32_t bytes, bool in_order) {
    if (asks()) engine_->read(job, address, bytes, in_order);
  }
  /// The box would make this request; the answer is the one to make, nothing where the engine makes none.
  std::optional<ReadRequestTlp> request(TimePs now, const ReadRequestTlp& expected);
  ReadTags::Verdict completion(TimePs now, const CompletionTlp& completion, ReadTags::Verdict expected);
  void expire(std::uint16_t tag) {
    if (asks()) engine_->expire(tag);
  }
  void release(std::uint32_t bytes) {
    if (asks()) engine_->release(bytes);
  }
  /// The box would report this read. False where it is not to be reported: the engine does not.
  bool report(TimePs now, std::uint32_t job, bool in_order);

  void write(std::uint64_t address, std::uint32_t bytes) {
    if (asks()) engine_->write(address, bytes);
  }
  WriteTlp write_tlp(TimePs now, const WriteTlp& expected);

  // By pins. The box follows what the RTL does and compares it; behind a difference nothing is comparable, and the
  // box is not stepped any more.
  PcieDmaOutputs clock(const PcieDmaInputs& inputs) { return engine_->clock(inputs); }
  void judge_request(TimePs now, const ReadRequestTlp& expected, const ReadRequestTlp& given);
  void judge_verdict(TimePs now, const CompletionTlp& completion, ReadTags::Verdict expected, std::uint16_t tag,
                     ReadTags::Verdict given);
  /// `expected`: the oldest read in order, or one of the others that is done; none: none is.
  void judge_report(TimePs now, std::string_view port, std::optional<std::uint32_t> expected, std::uint32_t given);
  void judge_tlp(TimePs now, const WriteTlp& expected, const WriteTlp& given);
  void judge_buffer(TimePs now, std::uint64_t expected_bytes, std::uint64_t given_bytes);
  /// It gave what it was not asked for.
  void judge_unasked(TimePs now, std::string_view what);
  void count_cycle_occupied() { count_occupied(); }
  /// A request, a completion or a write TLP, `latency` cycles after what it comes from.
  void count_transaction(std::uint64_t latency) { count({0, latency}, {1, 1}); }
  bool is_over() const { return mismatches() > 0; }

  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  /// Beside the box, an engine that has gone another way is not asked any more: all that follows would differ.
  bool asks() const { return drives() || mismatches() == 0; }
  bool report_in_order(TimePs now, std::uint32_t job);
  bool report_loose(TimePs now, std::uint32_t job);
  /// A transaction that began at cycle `begin` of the engine's clock.
  void count_from(std::uint64_t begin);
  void note(TimePs now, const std::string& transaction, std::string_view field, std::uint64_t expected,
            std::uint64_t actual);
  void note_absent(TimePs now, const std::string& transaction, std::string_view what);

  std::unique_ptr<PcieDmaEngine> engine_;
  NodeId node_;
  TimePs clock_period_ps_;
  std::vector<std::uint32_t> loose_;  ///< reported by the engine and not by the box yet
};

}  // namespace mrc
