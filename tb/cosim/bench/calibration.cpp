#include "cosim/bench/calibration.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

namespace mrc::cosim {
namespace {

constexpr std::uint64_t kMostCyclesATransfer = 1'000;

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
  bool answers = false;
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

/// Drives the RTL and keeps, by transfer, whether it answers and what the SystemC box charges.
CycleStatistics measure_rtl(BlockModel& model, const CalibrationPoint& point, const SystemcCycles& pipeline,
                            Traffic& traffic, std::vector<Taken>& taken) {
  const auto dut = model.make_dut(point.seed);
  const Port& in = dut->ports[0];
  const Port& out = dut->ports[1];
  in.valid.set(0);
  out.ready.set(0);
  KeyedRandom random(point.seed, "calibration.stimulus");
  dut->set_reset(true);
  model.reset_to_traffic(random, *dut);
  for (int edge = 0; edge < 2; ++edge) {
    dut->low();
    dut->high();
  }
  dut->set_reset(false);

  std::vector<std::vector<Transaction>> expected(2);
  std::deque<std::uint64_t> waiting;
  std::vector<std::uint64_t> latencies;
  Transaction values;
  bool offering = false;
  std::uint64_t cycle = 0;
  for (; taken.size() < point.transfers || !waiting.empty(); ++cycle) {
    if (cycle > kMostCyclesATransfer * point.transfers) throw std::runtime_error("calibration: the RTL hangs");
    if (!offering && taken.size() < point.transfers && traffic.arrivals[taken.size()] <= cycle) {
      offering = model.offer(0, random, values);
      in.drive(values);
    }
    in.valid.set(offering ? 1 : 0);
    out.ready.set(traffic.ready(cycle) ? 1 : 0);
    dut->low();
    if (out.valid.get() != 0 && out.ready.get() != 0) {
      latencies.push_back(cycle - waiting.front());
      waiting.pop_front();
    }
    if (offering && in.ready.get() != 0) {
      offering = false;
      model.accept(0, values, expected);
      const bool answers = !expected[1].empty();
      expected[1].clear();
      if (answers) waiting.push_back(cycle);
      taken.push_back({cycle, answers, model.systemc_cycles(pipeline)});
    }
    dut->high();
  }
  return statistics(std::move(latencies), point.transfers, taken.back().cycle + 1);
}

/// The rule of a SystemC box: it takes the next transfer when its interval is over and it has a place for the answer,
/// and hands over the answer after its latency, in order, when the next box takes it.
CycleStatistics run_systemc(const std::vector<Taken>& transfers, Traffic& traffic, std::uint64_t places) {
  struct Answer {
    std::uint64_t taken = 0;
    std::uint64_t due = 0;
  };
  std::deque<Answer> held;
  std::vector<std::uint64_t> latencies;
  std::uint64_t next_start = 0;
  std::uint64_t last_taken = 0;
  std::size_t next = 0;
  for (std::uint64_t cycle = 0; next < transfers.size() || !held.empty(); ++cycle) {
    if (!held.empty() && held.front().due <= cycle && traffic.ready(cycle)) {
      latencies.push_back(cycle - held.front().taken);
      held.pop_front();
    }
    if (next == transfers.size() || traffic.arrivals[next] > cycle || cycle < next_start || held.size() >= places)
      continue;
    const Taken& transfer = transfers[next++];
    next_start = cycle + transfer.systemc.occupied;
    last_taken = cycle;
    if (transfer.answers) held.push_back({cycle, cycle + transfer.systemc.latency});
  }
  return statistics(std::move(latencies), transfers.size(), last_taken + 1);
}

}  // namespace

void BlockModel::reset_to_traffic(KeyedRandom&, const Dut&) {
  throw std::logic_error("this block has no traffic to be calibrated with");
}

bool CalibrationRow::within_limits() const {
  return std::abs(throughput_error()) <= 0.01 &&
         std::abs(mean_error_cycles()) <= std::max(0.02 * rtl.mean_latency, 0.5) &&
         std::abs(p99_error_cycles()) <= std::max(0.05 * static_cast<double>(rtl.p99_latency), 1.0);
}

CalibrationRow calibrate(BlockModel& model, const CalibrationPoint& point, const SystemcCycles& pipeline,
                         std::uint64_t places) {
  Traffic traffic(point);
  std::vector<Taken> transfers;
  CalibrationRow row;
  row.point = point;
  row.rtl = measure_rtl(model, point, pipeline, traffic, transfers);
  row.systemc = run_systemc(transfers, traffic, places);
  return row;
}

}  // namespace mrc::cosim
