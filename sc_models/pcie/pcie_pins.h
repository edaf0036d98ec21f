// PCIe TLP by TLP where the RTL of pcie_dma is clocked with the run: it splits, gives tags, sorts completions, reports
// and cuts writes at its own rate. The link, its credits and the host are as in PcieTlps.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "pcie/pcie_tlps.h"

namespace mrc {

class PciePins final : public PcieTlps {
 public:
  /// `rtl`, by pins, outlives it.
  PciePins(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config, const ClockDomain& clock,
           KeyedRandom random, const WorkClock& work, CauseTable& causes, PcieDmaRtlPath& rtl);

  void step(TimePs now) override;

 private:
  /// A completion or an expired tag that the RTL has taken: what becomes of it is done when it has its verdict.
  struct Judged {
    CompletionTlp tlp;
    std::uint64_t cycle = 0;
    bool expires = false;
  };
  /// A write that the RTL has taken and not cut to its end.
  struct Cutting {
    PostedWrite left;
    std::uint64_t order = 0;  ///< behind the read requests that were made before it
    std::uint64_t cycle = 0;
  };
  /// In front of the line.
  struct CutTlp {
    WriteTlp tlp;
    PostedWrite left;
    std::uint64_t order = 0;
  };
  /// Write TLPs that the RTL has cut and that may wait for the line, whose TLPs begin at any time and not only at an
  /// edge of the core clock (assumption: a small queue in front of the link).
  static constexpr std::size_t kMostCutTlps = 4;

  void issue_write(TimePs now, const PostedWrite& write) override;
  bool write_waits(TimePs now) const override { return !cut_.empty() || PcieTlps::write_waits(now); }
  bool write_is_first() const override;
  bool can_send_write(TimePs now) override;
  void send_write_tlp(TimePs now) override;

  void clock(TimePs now);
  bool has_work(TimePs now) const;
  void offer(TimePs now);
  void offer_read(TimePs now);
  bool may_request(TimePs now);
  void take_inputs(TimePs now, const PcieDmaOutputs& outputs);
  void take_read(TimePs now);
  void take_request(TimePs now, const ReadRequestTlp& given);
  /// What the next request is: `again`, one of those that are made once more.
  std::optional<ReadRequestTlp> expected_request(bool again) const;
  void move_requests(TimePs now);
  void take_verdict(TimePs now, std::uint16_t tag, ReadTags::Verdict given);
  void give_up_expired(TimePs now);
  void take_report(TimePs now, std::uint32_t given, bool in_order);
  void take_tlp(TimePs now, const WriteTlp& given);
  void compare_buffer(TimePs now, const PcieDmaOutputs& outputs);
  void account(TimePs now, const PcieDmaOutputs& outputs);
  void watch(const PcieDmaOutputs& outputs);
  bool is_done(std::uint32_t job) const { return jobs_[job].to_issue == 0 && jobs_[job].outstanding == 0; }
  bool owes_report() const;

  PcieDmaRtlPath& pins_;
  Cause write_cut_;  ///< a write waits for the RTL to cut it
  PcieDmaInputs inputs_;
  std::uint64_t cycle_ = 0;
  TimePs next_edge_ = 0;
  std::deque<std::uint32_t> splitting_;  ///< reads that the RTL has taken and not requested to their end
  std::deque<std::uint64_t> taken_at_;   ///< the cycles in which it took them
  std::deque<ReadRequestTlp> made_;      ///< requests that wait for a credit
  std::deque<Completion> landed_;        ///< and not offered yet
  std::deque<std::uint16_t> expired_;    ///< likewise
  std::deque<Judged> judged_;            ///< without a verdict yet
  std::deque<Cutting> cutting_;
  std::deque<CutTlp> cut_;
  std::uint64_t buffer_taken_bytes_ = 0;  ///< of the completion buffer, by all requests so far
  std::uint64_t buffer_told_bytes_ = 0;   ///< released, as the RTL was told
  std::uint64_t quiet_cycles_ = 0;
  std::uint64_t unready_cycles_ = 0;
};

}  // namespace mrc
