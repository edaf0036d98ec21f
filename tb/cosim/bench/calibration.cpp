#include "cosim/bench/calibration.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <stdexcept>

#include "engine/rtl_error.h"

namespace mrc::cosim {
namespace {

constexpr std::uint64_t kMostCyclesATransfer = 1'000;
constexpr std::uint64_t kPollCycles = 1'024;

/// When transfers are offered and outputs taken: the same for both sides.
class Traffic {
 public:
  explicit Traffic(const CalibrationPoint& point) {
    KeyedRandom random(point.seed, "calibration.arrivals");
    std::uint64_t cycle = 0;
    for (std::uint64_t i = 0; i < point.transfers; ++i) {
      while (!(point.load >= 1.0 || random.chance(point.load))) ++cycle;
      arrivals.push_back(cycle++);
    }
    ready_ = KeyedRandom(point.seed, "calibration.ready");
    share_ = point.output_ready;
  }
  bool ready(std::uint64_t cycle) {
    while (pattern_.size() <= cycle) pattern_.push_back(share_ >= 1.0 || ready_.chance(share_));
    return pattern_[cycle];
  }
  std::vector<std::uint64_t> arrivals;

 private:
  KeyedRandom ready_;
  double share_ = 1.0;
  std::vector<bool> pattern_;
};

struct Taken {
  std::uint64_t cycle = 0;
  std::size_t answers = 0;
  SystemcCycles systemc;
};

CycleStatistics statistics(std::vector<std::uint64_t> latencies, std::uint64_t transfers, std::uint64_t cycles) {
  CycleStatistics result;
  result.answers = latencies.size();
  result.throughput = static_cast<double>(transfers) / static_cast<double>(std::max<std::uint64_t>(cycles, 1));
  if (latencies.empty()) return result;
  std::sort(latencies.begin(), latencies.end());
  double sum = 0;
  for (const std::uint64_t latency : latencies) sum += static_cast<double>(latency);
  result.mean_latency = sum / static_cast<double>(latencies.size());
  result.p99_latency = latencies[(latencies.size() - 1) * 99 / 100];
  return result;
}

/// Drives the RTL and keeps, by transfer, how often it answers and what the SystemC box charges.
class RtlMeasurement {
 public:
  RtlMeasurement(BlockModel& model, const CalibrationPoint& point, const SystemcCycles& pipeline, Traffic& traffic)
      : model_(model),
        parts_(model.parts()),
        point_(point),
        pipeline_(pipeline),
        traffic_(traffic),
        random_(point.seed, "calibration.stimulus"),
        levels_(point.seed, "calibration.levels"),
        dut_(model.make_dut(point.seed)),
        inputs_(dut_->ports.size()),
        expected_(dut_->ports.size()) {
    // Cycles are measured here, and not compared with the data sheet.
    model_.data_sheet_cycles = false;
    for (const Port& port : dut_->ports) (port.direction == Direction::in ? port.valid : port.ready).set(0);
    dut_->set_reset(true);
    parts_.traffic->reset_to_traffic(random_, *dut_);
    for (int edge = 0; edge < 2; ++edge) {
      dut_->low();
      dut_->high();
    }
    dut_->set_reset(false);
    prepare();
    parts_.levels->drive(levels_, *dut_);
    // The load begins when the block takes its first transfer: a walk over its memories is not part of a latency.
    for (std::uint64_t waited = 0; waited < kMostCyclesATransfer * point.transfers; ++waited) {
      dut_->low();
      if (dut_->ports[point.in_port].ready.get() != 0) break;
      dut_->high();
    }
  }

  CycleStatistics run(std::vector<Taken>& taken, const std::function<void()>& poll) {
    for (; taken.size() < point_.transfers || !waiting_.empty(); ++cycle_) {
      if (poll && cycle_ % kPollCycles == 0) poll();
      if (cycle_ > kMostCyclesATransfer * point_.transfers) throw RtlError("calibration: the RTL hangs");
      cycle(taken, true);
    }
    return statistics(std::move(latencies_), point_.transfers, taken.back().cycle + 1);
  }

 private:
  void prepare() {
    std::vector<Taken> none;
    for (std::uint64_t waited = 0; !parts_.traffic->ready_for_traffic(); ++waited) {
      if (waited > kMostCyclesATransfer * point_.transfers) throw RtlError("calibration: the RTL hangs");
      cycle(none, false);
    }
  }
  void cycle(std::vector<Taken>& taken, bool load) {
    offer(taken.size(), load);
    parts_.levels->drive(levels_, *dut_);
    dut_->low();
    if (parts_.levels->observe(*dut_, expected_)) throw RtlError("calibration: the RTL differs from its reference");
    take_outputs();
    take_inputs(taken);
    for (std::vector<Transaction>& outputs : expected_) outputs.clear();
    dut_->high();
  }

  struct Input {
    bool offering = false;
    Transaction values;
  };

  void offer(std::size_t taken, bool load) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Port& port = dut_->ports[i];
      if (port.direction == Direction::out) {
        // Before the load, each output is taken at once.
        port.ready.set(!load || i != point_.out_port || traffic_.ready(cycle_) ? 1 : 0);
        continue;
      }
      const bool due = i != point_.in_port || (load && taken < point_.transfers && traffic_.arrivals[taken] <= cycle_);
      if (!inputs_[i].offering && due) {
        inputs_[i].offering = model_.offer(i, random_, inputs_[i].values);
        if (inputs_[i].offering) port.drive(inputs_[i].values);
      }
      port.valid.set(inputs_[i].offering ? 1 : 0);
    }
  }
  void take_outputs() {
    Transaction values;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Port& port = dut_->ports[i];
      if (port.direction == Direction::in || port.valid.get() == 0 || port.ready.get() == 0) continue;
      port.sample(values);
      parts_.outputs->taken(i, values);
      if (i != point_.out_port || waiting_.empty()) continue;
      latencies_.push_back(cycle_ - waiting_.front());
      waiting_.pop_front();
    }
  }
  void take_inputs(std::vector<Taken>& taken) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Port& port = dut_->ports[i];
      if (!inputs_[i].offering || port.ready.get() == 0) continue;
      inputs_[i].offering = false;
      const std::size_t before = expected_[point_.out_port].size();
      model_.accept(i, inputs_[i].values, expected_);
      if (i != point_.in_port) continue;
      const std::size_t answers =
          parts_.traffic->caused(point_.out_port).value_or(expected_[point_.out_port].size() - before);
      waiting_.insert(waiting_.end(), answers, cycle_);
      taken.push_back({cycle_, answers, parts_.traffic->systemc_cycles(pipeline_)});
    }
  }

  BlockModel& model_;
  ModelParts parts_;  ///< of model_
  const CalibrationPoint& point_;
  const SystemcCycles& pipeline_;
  Traffic& traffic_;
  KeyedRandom random_;
  KeyedRandom levels_;
  std::unique_ptr<Dut> dut_;
  std::vector<Input> inputs_;
  std::vector<std::vector<Transaction>> expected_;
  std::deque<std::uint64_t> waiting_;
  std::vector<std::uint64_t> latencies_;
  std::uint64_t cycle_ = 0;
};

/// The rule of a SystemC box: it takes the next transfer when its interval is over and it has a place for the answer,
/// and hands over the answer after its latency, in order, when the next box takes it.
class SystemcBox {
 public:
  SystemcBox(TrafficPart& part, const std::vector<Taken>& transfers, Traffic& traffic, std::uint64_t places)
      : part_(part), transfers_(transfers), traffic_(traffic), places_(places) {}

  CycleStatistics run() {
    for (std::uint64_t cycle = 0; next_ < transfers_.size() || !held_.empty(); ++cycle) {
      if (!held_.empty() && held_.front().due <= cycle && traffic_.ready(cycle)) hand_over(cycle);
      if (next_ < transfers_.size() && takes(cycle)) take(cycle);
    }
    return statistics(std::move(latencies_), transfers_.size(), last_taken_ + 1);
  }

 private:
  struct Answer {
    std::uint64_t taken = 0;
    std::uint64_t due = 0;
    SystemcCycles systemc;
  };

  void hand_over(std::uint64_t cycle) {
    latencies_.push_back(cycle - held_.front().taken);
    held_.pop_front();
    // Of those behind, the first has been at work, and the second begins now.
    for (std::size_t behind = 0; behind < std::min<std::size_t>(held_.size(), 2); ++behind) {
      Answer& answer = held_[behind];
      const SystemcCycles& systemc = answer.systemc;
      if (!systemc.alone) continue;
      answer.due =
          std::max(answer.due, cycle + (behind == 0 ? systemc.after_answer : systemc.latency + 1 - systemc.works_in));
      next_start_ = std::max(next_start_, answer.due - systemc.latency + systemc.occupied);
    }
    std::uint64_t due = cycle + 1;
    for (std::size_t behind = 0; behind < held_.size() && held_[behind].systemc.work > 0; ++behind) {
      Answer& answer = held_[behind];
      if (behind > 0) due += answer.systemc.work;
      answer.due = due = std::max(answer.due, due);
      next_start_ = std::max(next_start_, due - answer.systemc.work);
    }
  }
  bool takes(std::uint64_t cycle) const {
    if (traffic_.arrivals[next_] > cycle || cycle < next_start_) return false;
    return held_.size() < (!held_.empty() && held_.back().systemc.alone ? 2 : places_);
  }
  void take(std::uint64_t cycle) {
    const Taken& transfer = transfers_[next_++];
    const SystemcCycles systemc = part_.systemc_cycles_at(transfer.systemc, cycle);
    next_start_ = cycle + systemc.occupied;
    last_taken_ = cycle;
    std::uint64_t due = cycle + systemc.latency;
    if (systemc.work > 0 && !held_.empty()) due = std::max(due, held_.back().due + systemc.work);
    for (std::size_t i = 0; i < transfer.answers; ++i) held_.push_back({cycle, due + i, systemc});
  }

  TrafficPart& part_;
  const std::vector<Taken>& transfers_;
  Traffic& traffic_;
  std::uint64_t places_;
  std::deque<Answer> held_;
  std::vector<std::uint64_t> latencies_;
  std::uint64_t next_start_ = 0;
  std::uint64_t last_taken_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

void TrafficPart::reset_to_traffic(KeyedRandom&, const Dut&) {
  throw std::logic_error("this block has no traffic to be calibrated with");
}

bool CalibrationRow::within_limits() const {
  return std::abs(throughput_error()) <= 0.01 &&
         std::abs(mean_error_cycles()) <= std::max(0.02 * rtl.mean_latency, 0.5) &&
         std::abs(p99_error_cycles()) <= std::max(0.05 * static_cast<double>(rtl.p99_latency), 1.0);
}

CalibrationRow calibrate(BlockModel& model, const CalibrationPoint& point, const SystemcCycles& pipeline,
                         std::uint64_t places, const std::function<void()>& poll) {
  Traffic traffic(point);
  std::vector<Taken> transfers;
  CalibrationRow row;
  row.point = point;
  row.rtl = RtlMeasurement(model, point, pipeline, traffic).run(transfers, poll);
  row.systemc = SystemcBox(*model.parts().traffic, transfers, traffic, places).run();
  return row;
}

}  // namespace mrc::cosim
