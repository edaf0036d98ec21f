// Stimulus and reference of pcie_dma: sc_models/pcie/pcie_dma_reference.h, cycle by cycle. The host is the model's: it
// answers the requests that the block makes, and loses, repeats and poisons completions.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/bench/verilated_dut.h"
#include "pcie/pcie_dma_reference.h"

namespace mrc::cosim {

/// Ports of a pcie_dma, in the order of make_pcie_dma_dut().
enum PcieDmaPort : std::size_t {
  kReadPort,
  kWritePort,
  kCompletionPort,
  kExpiryPort,
  kReleasePort,
  kRequestPort,
  kVerdictPort,
  kOrderedPort,
  kLoosePort,
  kTlpPort
};

/// Of a Verilated pcie_dma_flat.
template <typename Model>
std::unique_ptr<Dut> make_pcie_dma_dut(std::uint64_t seed) {
  auto dut = std::make_unique<VerilatedDut<Model>>(seed);
  Model& m = dut->model();
  dut->ports.push_back(Port("rd", Direction::in, m.rd_valid_i, m.rd_ready_o)
                           .field("address", m.rd_address_i)
                           .field("bytes", m.rd_bytes_i)
                           .field("job", m.rd_job_i)
                           .field("in_order", m.rd_in_order_i));
  dut->ports.push_back(Port("wr", Direction::in, m.wr_valid_i, m.wr_ready_o)
                           .field("address", m.wr_address_i)
                           .field("bytes", m.wr_bytes_i));
  dut->ports.push_back(Port("cpl", Direction::in, m.cpl_valid_i)
                           .field("tag", m.cpl_tag_i)
                           .field("bytes", m.cpl_bytes_i)
                           .field("byte_count", m.cpl_byte_count_i)
                           .field("poisoned", m.cpl_poisoned_i));
  dut->ports.push_back(Port("expire", Direction::in, m.expire_valid_i, m.expire_ready_o).field("tag", m.expire_tag_i));
  dut->ports.push_back(Port("release", Direction::in, m.release_valid_i).field("bytes", m.release_bytes_i));
  dut->ports.push_back(Port("req", Direction::out, m.req_valid_o, m.req_ready_i)
                           .field("again", m.req_retry_o)
                           .field("address", m.req_address_o)
                           .field("bytes", m.req_bytes_o)
                           .field("job", m.req_job_o)
                           .field("tag", m.req_tag_o));
  dut->ports.push_back(
      Port("verdict", Direction::out, m.verdict_valid_o).field("verdict", m.verdict_o).field("tag", m.verdict_tag_o));
  dut->ports.push_back(
      Port("ordered", Direction::out, m.ordered_valid_o, m.ordered_ready_i).field("job", m.ordered_job_o));
  dut->ports.push_back(Port("loose", Direction::out, m.loose_valid_o, m.loose_ready_i).field("job", m.loose_job_o));
  dut->ports.push_back(Port("tlp", Direction::out, m.tlp_valid_o, m.tlp_ready_i)
                           .field("address", m.tlp_address_o)
                           .field("bytes", m.tlp_bytes_o)
                           .field("last", m.tlp_last_o));
  dut->constants.push_back({"mrrs_log2", Pin(m.mrrs_log2_i)});
  dut->constants.push_back({"mps_log2", Pin(m.mps_log2_i)});
  dut->constants.push_back({"np_credit", Pin(m.np_credit_i)});
  dut->state.push_back({"stall_tags", Pin(m.stall_tags_o)});
  dut->state.push_back({"stall_buffer", Pin(m.stall_buffer_o)});
  dut->state.push_back({"buffer_used", Pin(m.buffer_used_o)});
  return dut;
}

class PcieDmaModel : public BlockModel {
 public:
  using MakeDut = std::function<std::unique_ptr<Dut>(std::uint64_t seed)>;

  PcieDmaModel(const PcieDmaSizes& sizes, MakeDut make_dut);

  std::unique_ptr<Dut> make_dut(std::uint64_t seed) const override { return make_dut_(seed); }
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
  MakeDut make_dut_;
  Points points_{};
  std::uint32_t mrrs_ = 128;
  std::uint32_t mps_ = 128;
  double credit_ = 1.0;
  double fault_ = 0.0;
  double small_ = 0.5;
  bool traffic_ = false;
  bool of_run_ = false;
  std::vector<std::uint16_t> request_tags_;  ///< of a run's requests, in their order
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
