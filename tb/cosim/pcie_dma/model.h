// Stimulus and reference of pcie_dma: sc_models/pcie/pcie_dma_reference.h, cycle by cycle. The host is the model's: it
// answers the requests that the block makes, and loses, repeats and poisons completions.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/pcie_dma/dut.h"
#include "cosim/pcie_dma/ports.h"
#include "cosim/pcie_dma/requests.h"
#include "pcie/pcie_dma_reference.h"

namespace mrc::cosim {

inline constexpr std::size_t kReadPort = pcie_dma_ports::Rd::kPort;
inline constexpr std::size_t kWritePort = pcie_dma_ports::Wr::kPort;
inline constexpr std::size_t kCompletionPort = pcie_dma_ports::Cpl::kPort;
inline constexpr std::size_t kExpiryPort = pcie_dma_ports::Expire::kPort;
inline constexpr std::size_t kReleasePort = pcie_dma_ports::Release::kPort;
inline constexpr std::size_t kRequestPort = pcie_dma_ports::Req::kPort;
inline constexpr std::size_t kVerdictPort = pcie_dma_ports::Verdict::kPort;
inline constexpr std::size_t kOrderedPort = pcie_dma_ports::Ordered::kPort;
inline constexpr std::size_t kLoosePort = pcie_dma_ports::Loose::kPort;
inline constexpr std::size_t kTlpPort = pcie_dma_ports::Tlp::kPort;

class PcieDmaModel : public BlockModel,
                     public LevelsPart,
                     public OutputsPart,
                     public ReplayPart,
                     public TracePart,
                     public TrafficPart {
 public:
  PcieDmaModel(const PcieDmaSizes& sizes, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  void drive(KeyedRandom& random, const Dut& dut) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  void taken(std::size_t port, const Transaction& values) override;
  bool adapt(std::size_t port, Transaction& values) const override;
  bool answers(std::size_t port) const override {
    return port == kCompletionPort || port == kExpiryPort || port == kReleasePort;
  }
  std::uint64_t settle_cycles() const override { return 400; }
  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  std::optional<std::size_t> caused(std::size_t port) const override;
  SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const override;

 private:
  struct Points {
    std::size_t read, write, ask, verdict, poison, expiry, end, room, together;
  };
  /// A request as the host answers it.
  struct Asked {
    ReadRequestTlp request;
    std::uint32_t sent = 0;
    bool dead = false;  ///< something of it was lost: it is to expire
  };

  bool offer_read(KeyedRandom& random, Transaction& values);
  bool offer_write(KeyedRandom& random, Transaction& values) const;
  bool offer_completion(KeyedRandom& random, Transaction& values);
  bool offer_faulty_completion(KeyedRandom& random, Transaction& values) const;
  bool offer_expiry(KeyedRandom& random, Transaction& values);
  bool offer_release(KeyedRandom& random, Transaction& values) const;
  bool adapt_read(Transaction& values) const;
  bool adapt_completion(Transaction& values) const;
  bool adapt_completion_of_run(Transaction& values) const;
  bool adapt_expiry(Transaction& values) const;
  /// The content of the write splitter is split as soon as there is room for a TLP, and the next write accepted with
  /// the last.
  template <typename Compare>
  void cut_write(const Dut& dut, const Compare& compare);
  void form_request(const Dut& dut, std::vector<std::vector<Transaction>>& expected);
  /// `known`: its tag was given out before this cycle.
  void judge_completion(bool known, std::vector<std::vector<Transaction>>& expected);
  void end_request(std::uint16_t tag, std::vector<std::vector<Transaction>>& expected);
  void accept_read(const Transaction& values);
  void accept_write(const Transaction& values, std::vector<std::vector<Transaction>>& expected);
  void accept_completion(const Transaction& values);
  void accept_expiry(std::uint16_t tag);

  /// Bytes that came under this tag, those of the completion in the first stage with them.
  std::uint32_t received(std::uint16_t tag) const;
  /// A tag that is free may be given out in this cycle, and is then no unknown one.
  bool may_give_tag() const { return reference_->splitting() || reference_->repeating(); }
  /// The host has this tag's request, and nothing in the first stage ends it.
  bool can_answer(std::uint16_t tag) const;

  PcieDmaSizes sizes_;
  Points points_{};
  std::uint32_t mrrs_ = 128;
  std::uint32_t mps_ = 128;
  double credit_ = 1.0;
  double fault_ = 0.0;
  double small_ = 0.5;
  bool traffic_ = false;
  bool of_run_ = false;
  PcieDmaRequests requests_{0};  ///< of a run
  std::optional<PcieDmaReference> reference_;
  std::vector<Asked> asked_;
  std::vector<bool> at_host_;  ///< by tag: its request is there and not ended
  std::size_t last_pick_ = 0;
  std::vector<std::uint32_t> free_jobs_;
  std::deque<std::uint32_t> job_order_;  ///< not reported, in the order of the reads
  std::vector<std::uint32_t> bytes_of_;  ///< by job
  std::vector<std::uint32_t> left_of_;   ///< by job: bytes that have not come
  std::vector<bool> in_order_;           ///< by job
  std::uint64_t to_release_ = 0;
  bool owes_request_ = false;        ///< the request that was formed in the cycle before
  std::uint64_t tlps_left_ = 0;      ///< of the write in its splitter
  bool owes_tlp_ = false;            ///< the TLP that was cut in the cycle before
  std::optional<Difference> early_;  ///< of wr_ready; the TLP that it comes with says more, and is looked at first
  std::uint64_t cycle_ = 0;
  std::array<std::deque<std::uint64_t>, 2> reports_due_;  ///< in order, loose: the cycle of each that was not taken
  bool expiry_waited_ = false;
  bool completion_offered_ = false;                 ///< in this cycle
  std::optional<CompletionTlp> last_completion_;    ///< in the first stage
  std::optional<CompletionTlp> completion_before_;  ///< in the cycle before that one
  std::optional<std::uint16_t> last_expiry_;
  std::uint64_t caused_ = 0;
  bool caused_in_order_ = false;
};

}  // namespace mrc::cosim
