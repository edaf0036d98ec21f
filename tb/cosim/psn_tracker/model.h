// Stimulus and reference of psn_tracker: one pool, psn_verdict() and sack_contents(). The cycles in which a request is
// accepted and its reply appears are compared, and so are the banks in use at the reply.
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
#include "cosim/bench/spread_numbers.h"
#include "cosim/psn_tracker/dut.h"
#include "cosim/psn_tracker/ports.h"
#include "mrc/rx/receive_window.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc::cosim {

class PsnTrackerModel : public BlockModel,
                        public LevelsPart,
                        public OutputsPart,
                        public ReplayPart,
                        public TracePart,
                        public TrafficPart {
 public:
  PsnTrackerModel(const PsnTrackerSizes& sizes, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const override {
    return {pipeline.occupied + further_cycles_, pipeline.latency + further_cycles_};
  }
  bool adapt(std::size_t port, Transaction& values) const override;
  std::vector<std::uint64_t> state() const override { return {pool_->in_use()}; }
  /// Cycles in which requests are accepted and replies appear, and the banks in use.
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void taken(std::size_t port, const Transaction& values) override;
  /// A context that was stored: the same comes with its load.
  void complete(std::size_t port, const Transaction& cause, const Transaction& actual,
                Transaction& wanted) const override;
  /// The context that comes with a reply: which banks it names is the block's business.
  void hide(std::size_t port, const Transaction& cause, Transaction& values) const override;

 private:
  /// In one of the block's stages.
  struct Request {
    PsnOp op = PsnOp::data;
    std::uint64_t slot = 0;
    std::uint32_t left = 1;  ///< banks that it has yet to look at
    bool stale = false;      ///< a SACK whose base was computed while a request of its slot was in front of it
  };

  /// The block's five stages, from how many banks each request looks at.
  class Pipeline {
   public:
    bool ready(bool out_free) const { return !load_inside_ && (!stages_[0] || moves(0, out_free)); }
    /// A request that is taken goes into the first stage behind this.
    void edge(bool out_free);
    void take(const Request& request) {
      stages_[0] = request;
      load_inside_ = request.op == PsnOp::load;
    }
    bool reply() const { return reply_; }
    /// The output appeared with the previous edge.
    bool new_reply() const { return new_reply_; }

   private:
    static constexpr std::size_t kDecides = 3;
    enum class Counts : std::uint8_t { nothing, further, last };

    bool acts(bool out_free) const { return stages_[kDecides] && !fetches_ && (counts_ != Counts::last || out_free); }
    bool done(bool out_free) const;
    /// Another bank, for which nothing else can be read.
    bool reads(bool out_free) const;
    /// A request leaves this stage, of the first three.
    bool moves(std::size_t stage, bool out_free) const;
    void move(std::size_t stage);

    std::array<std::optional<Request>, kDecides + 1> stages_;
    bool fetches_ = false;             ///< the fourth stage waits for a bank
    bool load_inside_ = false;         ///< nothing else is taken until it leaves the fourth stage
    Counts counts_ = Counts::nothing;  ///< in the fifth stage
    bool reply_ = false;
    bool new_reply_ = false;
  };

  /// How a QP is asked, for a while.
  struct Habit {
    double in_order = 0.3;
    double runs = 0.8;                   ///< of those that are not in order: a long run behind a hole
    double holes = 0.0;                  ///< a run behind no hole leaves one
    double further_holes = 0.0;          ///< a run behind a hole leaves another
    std::int32_t longest_run = 1 << 23;  ///< PSNs above the edge with which such a run ends
    double fills = 0.0;                  ///< the expected PSN where such a run ends, or can go no further
    double ends = 0.2;                   ///< packets that end a message
    double sacks = 0.0;
    double refusals = 0.0;
  };

  /// A context that is not in the block.
  struct Outside {
    Transaction row;
    ReceiveWindow window;
  };
  static constexpr std::size_t kMostOutside = 12;
  static constexpr double kLongRuns = 0.25;  ///< of habits: long runs of packets behind few holes, which are filled

  static void put_row(const Transaction& row, Transaction& values);
  std::vector<Outside>::const_iterator find_outside(const Transaction& values) const;
  void accept_load(const Transaction& values);
  static Habit draw_habit(KeyedRandom& random);
  void cover_window(const PsnTracker& tracker, Psn psn, const RxVerdict& verdict);
  Psn draw_psn(const PsnTracker& tracker, const Habit& habit, KeyedRandom& random) const;
  Psn draw_sack_psn(const PsnTracker& tracker, const Habit& habit, KeyedRandom& random) const;
  void accept_sack(ReceiveWindow& window, const Transaction& values, Transaction& reply);
  /// All that a reset begins anew; draws the load.
  void begin(KeyedRandom& random, const Dut& dut);
  void set_constants(const Dut& dut) const;
  void accept_release(std::optional<ReceiveWindow>& window, Transaction& reply);
  void accept_packet(ReceiveWindow& window, const Transaction& values, Transaction& reply);

  struct Points {
    std::size_t outcome, nack, walk, base, span, pool, psn, back_to_back, closes, grant, release, moved, window_end,
        refused, last_bank, stop;
  };

  PsnTrackerSizes sizes_;
  std::size_t context_words_ = 0;  ///< of 32 bits, of a context on the pins
  Points points_{};
  std::optional<BitmapPool> pool_;
  ProtocolConfig config_;
  std::vector<std::optional<ReceiveWindow>> windows_;  ///< by slot
  std::deque<ReceiveWindow> leaving_;                  ///< stored, and the reply was not taken
  std::vector<Outside> outside_;
  std::deque<PsnOp> asked_;       ///< not answered
  std::uint32_t busy_slots_ = 1;  ///< slots that this episode speaks of
  SpreadNumbers slot_numbers_;
  std::vector<Habit> habits_;  ///< by slot
  double changes_ = 0.0;       ///< of a slot's habit
  double stays_ = 0.3;         ///< with the slot of the request before
  double releases_ = 0.0;
  double moves_ = 0.0;        ///< contexts that are stored
  double half_circle_ = 0.0;  ///< PSNs that are neither ahead nor behind, of those that are not in order
  std::uint64_t last_slot_ = ~0ULL;
  std::uint64_t slot_before_last_ = ~0ULL;
  std::uint32_t further_cycles_ = 0;   ///< that the SystemC box charges the request accepted last
  std::uint32_t banks_looked_at_ = 1;  ///< for that request, by the RTL
  Pipeline pipeline_;
  std::deque<std::uint32_t> in_use_;  ///< banks, by request that is not answered: those that it leaves
};

}  // namespace mrc::cosim
