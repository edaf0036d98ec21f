// Stimulus and reference of retransmit_buffer: include/mrc/tx/retransmit_reference.h, command by command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/retransmit_buffer/cycles.h"
#include "cosim/retransmit_buffer/dut.h"
#include "cosim/retransmit_buffer/transfers.h"
#include "mrc/tx/retransmit_reference.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "nic/tx/retransmit_cycles.h"
#include "parameters/config.h"

namespace mrc::cosim {

class RetransmitBufferModel : public BlockModel,
                              public LevelsPart,
                              public OutputsPart,
                              public ReplayPart,
                              public TracePart,
                              public TrafficPart {
 public:
  /// `buckets`: of the hash, a power of two. Unless the contract has ranges, these have to come in the cycles of the
  /// data sheet of rtl/retransmit_buffer: the first ready after a reset, the response to a command that came alone, the
  /// taking of the next one, and that of commands on one record behind each other.
  RetransmitBufferModel(const RetransmitBufferSizes& sizes, std::uint32_t buckets, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  bool adapt(std::size_t port, Transaction& values) const override;
  void hide(std::size_t port, const Transaction& cause, Transaction& values) const override;
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void taken(std::size_t port, const Transaction& values) override;
  void complete(std::size_t port, const Transaction& cause, const Transaction& actual,
                Transaction& wanted) const override;
  /// Now and then a long one, in which windows get wide.
  std::uint64_t transfers_an_episode() const override { return next_is_long() ? 40'000 : 2'000; }
  /// A response comes after its events.
  bool follows(std::size_t port, std::size_t earlier) const override { return port == 1 && earlier == 2; }
  /// A run has no settings of this block.
  void reset_to_trace(KeyedRandom& random, const Dut& dut, const std::map<std::string, std::uint64_t>&) override {
    reset(random, dut);
  }
  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const override;

 private:
  struct Points {
    std::size_t append, sent, nack, take, declared, ack, cumulative, bitmap, acked_record, old_end, wrap, pair,
        other_qp, moved;
  };
  struct Slot {
    std::optional<std::uint32_t> qp;
    bool was_given = false;  ///< since the reset
  };
  /// The QP before a command.
  struct Before {
    Psn unacked = 0;
    std::uint32_t span = 0;
    bool outstanding = false;
    bool lost = false;
    Psn oldest_lost = 0;
    bool oldest_in_pipeline = false;
    bool sent_before = false;  ///< the command's packet
  };

  /// The one that the next reset begins.
  bool next_is_long() const { return episodes_ % 16 == 15; }
  void choose_load(KeyedRandom& random);
  std::uint32_t choose_qp(KeyedRandom& random) const;
  RetransmitCommand choose(KeyedRandom& random);
  RetransmitCommand choose_traffic(KeyedRandom& random);
  std::uint32_t choose_threshold(const RetransmitBuffer& buffer, KeyedRandom& random) const;
  TimePs choose_limit(std::uint32_t qp, KeyedRandom& random) const;
  RetransmitCommand choose_sent(RetransmitCommand c, const RetransmitBuffer& buffer, KeyedRandom& random) const;
  RetransmitCommand choose_ack(RetransmitCommand c, const RetransmitBuffer& buffer, KeyedRandom& random) const;
  Before look(const RetransmitCommand& c) const;
  void follow(const RetransmitCommand& c, const RetransmitReply& reply);
  std::uint64_t latency_of(const RetransmitCommand& c, const Before& before, const RetransmitReply& reply);
  void expect_cycles(std::uint64_t latency, bool holds_block);
  void expect_response(const RetransmitReply& reply, std::vector<std::vector<Transaction>>& expected) const;
  void accept_move(const Transaction& values, std::vector<std::vector<Transaction>>& expected);
  /// The QP of the command has no slot: what gives it one, or makes room. False: nothing can be sent now.
  bool offer_slot(const RetransmitCommand& command, KeyedRandom& random, Transaction& values) const;
  static void put_row(const Transaction& row, Transaction& values);
  std::optional<Difference> compare_ready(const Dut& dut);
  void cover(const RetransmitCommand& c, const RetransmitReply& reply, const Before& before);
  void cover_ack(const RetransmitCommand& c, const RetransmitReply& reply, const Before& before);

  RetransmitBufferSizes sizes_;
  Points points_{};
  std::optional<RetransmitReference> reference_;
  std::map<std::uint32_t, std::vector<Psn>> pipeline_;  ///< by QP: taken for sending and not sent
  std::size_t context_words_ = 0;                       ///< of 32 bits, of a context on the pins
  std::vector<Slot> slots_;
  std::map<std::uint32_t, std::uint32_t> slot_of_;  ///< by QP
  std::map<std::uint32_t, Transaction> rows_;       ///< contexts that are not in the block, by QP
  std::deque<std::uint32_t> leaving_;               ///< QPs that are stored, and the response was not taken
  std::deque<std::optional<std::uint32_t>> asked_;  ///< not answered: the QP that is stored, or none
  double moves_ = 0.0;                              ///< contexts that are stored
  std::uint64_t active_ = 1;                        ///< QPs that are spoken of at a time
  std::uint64_t window_ = 40;
  double append_ = 0.3;
  double sent_ = 0.3;
  bool hole_ = false;     ///< the oldest packet is not acknowledged for a while, and the window grows
  bool is_long_ = false;  ///< the episode
  bool patient_ = false;  ///< nor declared lost
  std::map<std::uint32_t, TimePs> oldest_sent_;  ///< by QP that has a packet outstanding
  std::uint64_t episodes_ = 0;
  TimePs now_ = 0;
  bool traffic_ = false;
  bool gap_is_due_ = false;  ///< of last_qp_
  RetransmitOp last_op_ = RetransmitOp::open;
  std::uint32_t last_qp_ = ~0U;
  std::size_t last_events_ = 0;
  std::uint64_t last_scan_cycles_ = 0;
  NicConfig nic_;  ///< of the box: defaults

  RetransmitBufferCycles cycles_;
  std::uint64_t cycle_ = 0;
  std::uint64_t answer_cycle_ = 0;       ///< of the response to a command that came alone; 0: none is due
  std::uint64_t ready_cycle_ = 0;        ///< first in which the next can be taken; 0: open
  std::uint64_t unanswered_ = 0;         ///< commands
  std::uint64_t initialization_cycles_;  ///< after a reset
  bool seen_ready_ = false;
  bool only_single_ = false;   ///< since the block was empty only commands on one record came, and no output waited
  std::uint64_t unready_ = 0;  ///< cycles without ready since then
  std::uint64_t unready_at_most_ = 0;  ///< what the records in front of theirs, and events, take
};

}  // namespace mrc::cosim
