#include "simulation/qp_resets.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/box.h"
#include "nic/mrc_halves.h"
#include "parameters/parameter_value.h"
#include "simulation/model.h"

namespace mrc {

/// What one end has told the other.
struct QpResets::Told {
  TimePs has_sent_at = kNever;  ///< all that it has sent is complete, and it posts no more
  Psn next = 0;                 ///< PSN that it would have sent next
  TimePs is_quiet_at = kNever;  ///< and nothing of the QP is left in its NIC
};

struct QpResets::Connection {
  std::array<Told, 2> told;
  NodeId first = 0;  ///< node of told[0]
  std::uint32_t first_qp = 0;
};

/// That of a node. Its looks at QPs are a quarter of the whole time apart, and so long what it says is on its way: more
/// than one NIC's events are computed ahead of another's, so that both ends hear and decide the same.
class QpResets::Software : public Box {
 public:
  Software(const Model& model, SimulationNode& node)
      : Box(fmt::format("qp_resets{}", node.id).c_str(), *node.wheel),
        model_(model),
        node_(node),
        duration_(ps_from_us(model.scenario.traffic.qp_reset_us)),
        period_(duration_ / 4) {}

  void add(TimePs at, std::uint32_t fault, std::uint32_t qp, Told& own, const Told& peer) {
    begins_.push_back({at, {fault, qp, &own, &peer}});
  }
  void start() {
    std::ranges::stable_sort(begins_, {}, &Begin::at);
    wake_at(begins_.front().at);
  }
  const std::vector<PortStatusStep>& steps() const { return steps_; }

  void step(TimePs now) override {
    connect_due(now);
    for (; next_ < begins_.size() && begins_[next_].at <= now; ++next_) begin(now, begins_[next_].reset);
    if (now >= look_at_) {
      for (Reset& reset : resets_) look(now, reset);
      look_at_ = resets_.empty() ? kNever : (now / period_ + 1) * period_;
    }
    if (look_at_ != kNever) wake_at(look_at_);
    if (next_ < begins_.size()) wake_at(begins_[next_].at);
    for (Reset& reset : resets_) {
      if (reset.up_at == kNever) continue;
      if (!reset.is_down && now >= down_at(reset)) take_down(now, reset);
      wake_at(reset.is_down ? reset.up_at : down_at(reset));
    }
  }

 private:
  /// Of a QP, at this end.
  struct Reset {
    std::uint32_t fault = 0;
    std::uint32_t qp = 0;
    Told* own = nullptr;
    const Told* peer = nullptr;
    Psn peer_next = 0;
    TimePs up_at = kNever;
    bool is_down = false;
  };
  struct Begin {
    TimePs at;
    Reset reset;
  };

  void begin(TimePs now, const Reset& reset) {
    // One that is not up again is connected once.
    if (std::ranges::find(resets_, reset.qp, &Reset::qp) != resets_.end()) return;
    resets_.push_back(reset);
    node_.player().hold(reset.qp);
    look_at_ = std::min(look_at_, (now / period_ + 1) * period_);
  }

  /// Halfway, so that no answer from before is on its way when the QP is up again.
  TimePs down_at(const Reset& reset) const { return reset.up_at - duration_ / 2; }

  void take_down(TimePs now, Reset& reset) {
    Qp& qp = node_.context.qps[reset.qp];
    const Psn received = qp.receiver ? qp.receiver->cack_psn() : 0;
    node_.transport->close(qp, first_psn(reset.fault, qp.peer, qp.peer_number, reset.peer_next));
    node_.nic->closed(now, qp, received);
    reset.is_down = true;
  }

  bool hears(TimePs said_at, TimePs now) const { return said_at != kNever && said_at + period_ <= now; }

  void look(TimePs now, Reset& reset) {
    if (reset.up_at != kNever) return;
    const Qp& qp = node_.context.qps[reset.qp];
    Told& own = *reset.own;
    const Told& peer = *reset.peer;
    if (own.has_sent_at == kNever && has_sent(qp)) {
      own.next = qp.sender ? requestor_of(qp).next_psn() : 0;
      own.has_sent_at = now;
    }
    if (own.has_sent_at == kNever || !hears(peer.has_sent_at, now)) return;
    if (own.is_quiet_at == kNever && has_received(qp, peer, now) && !node_.nic->holds_packets_of(qp))
      own.is_quiet_at = now;
    if (own.is_quiet_at == kNever || !hears(peer.is_quiet_at, now)) return;
    reset.peer_next = peer.next;
    reset.up_at = std::max(own.is_quiet_at, peer.is_quiet_at) + duration_;
  }

  bool has_sent(const Qp& qp) const {
    if (!qp.sender) return true;
    const bool in_host = qp.send_queue.waiting() > 0 || node_.host->player().is_posting_to(node_.context.index_of(qp));
    const bool in_nic = qp.doorbells_under_way > 0 || qp.wqes_in_fetch > 0 || qp.wqes_held > 0 || qp.wqe_in_reread ||
                        qp.sender->messages_pending() > 0 || qp.sender->has_completion();
    return !in_host && !in_nic;
  }

  /// Software has seen all that the peer has sent; of a message that an error has ended, some may be missing for ever.
  bool has_received(const Qp& qp, const Told& peer, TimePs now) const {
    return !qp.receiver || qp.receiver->receives_posted() == model_.scenario.protocol.receive_queue_depth ||
           peer.has_sent_at + duration_ <= now;
  }

  void connect_due(TimePs now) {
    const auto is_due = [&](const Reset& reset) { return reset.up_at <= now; };
    bool any = false;
    for (const Reset& reset : resets_) {
      if (!is_due(reset)) continue;
      connect(now, reset);
      any = true;
    }
    if (!any) return;
    std::erase_if(resets_, is_due);
    node_.host->work_arrived(now);
  }

  void connect(TimePs now, const Reset& reset) {
    Qp& qp = node_.context.qps[reset.qp];
    node_.transport->reopen(qp, first_psn(reset.fault, node_.id, qp.number, reset.own->next));
    qp.data_lost = false;
    if (qp.sender) node_.nic->begin_sending(now, qp);
    *reset.own = {};
    node_.player().end_hold(reset.qp);
    steps_.push_back({.at = now, .what = PortStatusStep::What::connected, .up = true, .fault = reset.fault});
  }

  /// Far enough that no packet from before is in the window, and not further than offsets in SACKs reach (assumption).
  Psn first_psn(std::uint32_t fault, NodeId sender, QpNumber number, Psn next) const {
    constexpr std::uint32_t least = 4'096;
    constexpr std::uint32_t spread = 16'384;
    KeyedRandom random(model_.scenario.seed, fmt::format("qp_reset.{}.nic{}.{}", fault, sender, number));
    return psn_add(next, static_cast<std::int64_t>(least + random.below(spread)));
  }

  const Model& model_;
  SimulationNode& node_;
  TimePs duration_;
  TimePs period_;
  std::vector<Begin> begins_;  ///< by time
  std::size_t next_ = 0;
  std::vector<Reset> resets_;  ///< under way
  TimePs look_at_ = kNever;
  std::vector<PortStatusStep> steps_;
};

QpResets::QpResets(const Model& model) : software_(model.scenario.fabric.nics) {
  if (model.options.programs != nullptr || model.split != nullptr) {
    throw std::invalid_argument(
        "[[fault]] kind = \"qp_reset\": the software of a trace connects QPs anew, in one process; not with programs, "
        "and not with several processes");
  }
  for (std::uint32_t fault = 0; fault < model.faults->size(); ++fault) {
    if (model.faults->is_qp_reset(fault)) add(model, fault);
  }
  for (const auto& software : software_) {
    if (software) software->start();
  }
}

QpResets::~QpResets() = default;

QpResets::Software& QpResets::at(const Model& model, NodeId node) {
  if (!software_[node]) software_[node] = std::make_unique<Software>(model, model.at(node));
  return *software_[node];
}

void QpResets::add(const Model& model, std::uint32_t fault) {
  const FaultConfig& config = model.scenario.faults[fault];
  const NodeId node = model.faults->node_of(fault);
  // Half of it is longer than the longest path.
  const double least_us = 16e-3 * model.scenario.fabric.cable_delay_ns;
  if (model.scenario.traffic.qp_reset_us < least_us) {
    throw ParameterError(config.place, fmt::format("fault: qp_reset takes at least 16 delays of a cable; allowed: "
                                                   "traffic.qp_reset_us from {} on",
                                                   least_us));
  }
  if (model.node_at[node] == nullptr) return;
  const std::vector<Qp>& qps = model.at(node).context.qps;
  const std::size_t of_nic = config.where.find(".qp");
  const bool is_one = of_nic != std::string::npos;
  std::uint32_t only = 0;
  if (is_one) {
    const std::string_view number = std::string_view(config.where).substr(of_nic + 3);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), only);
    if (error != std::errc() || end != number.data() + number.size() || only >= qps.size()) {
      throw ParameterError(
          config.place, fmt::format("fault.where = \"{}\" does not exist; nic{} has {} QPs, from qp0 on", config.where,
                                    node, qps.size()));
    }
  }
  for (const Qp& qp : qps) {
    if (is_one && &qp != &qps[only]) continue;
    for (const NodeId end : {node, qp.peer}) {
      if (model.at(end).nic) continue;
      throw ParameterError(config.place, fmt::format("fault: nic{} is a light endpoint, whose QPs stay connected; "
                                                     "qp_reset needs fidelity = \"detailed\" at both ends",
                                                     end));
    }
    const std::uint32_t index = model.at(node).context.index_of(qp);
    const std::uint32_t peer_index = qp.peer_number - kFirstQpNumber;
    const bool is_first = node < qp.peer;
    const NodeId first = is_first ? node : qp.peer;
    const std::uint32_t first_qp = is_first ? index : peer_index;
    auto of = std::ranges::find_if(
        connections_, [&](const auto& other) { return other->first == first && other->first_qp == first_qp; });
    if (of == connections_.end()) {
      of = connections_.insert(of, std::make_unique<Connection>());
      (*of)->first = first;
      (*of)->first_qp = first_qp;
    }
    std::array<Told, 2>& told = (*of)->told;
    const TimePs at_ps = model.faults->record(fault).begins_at;
    at(model, node).add(at_ps, fault, index, told[is_first ? 0 : 1], told[is_first ? 1 : 0]);
    at(model, qp.peer).add(at_ps, fault, peer_index, told[is_first ? 1 : 0], told[is_first ? 0 : 1]);
  }
}

std::span<const PortStatusStep> QpResets::steps_of(NodeId node) const {
  return software_[node] ? std::span<const PortStatusStep>(software_[node]->steps())
                         : std::span<const PortStatusStep>();
}

}  // namespace mrc
