#include "pcie/pcie_experiment.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "pcie/pcie_dma.h"

namespace mrc {
namespace {

/// Nothing leaves an experiment, so its wheel may run to the end at once.
constexpr TimePs kEndPs = 100'000'000'000'000;
/// Where the window is. Addresses of the model's host memory begin there too.
constexpr std::uint64_t kWindowBase = 1ULL << 40;
constexpr std::array<double, 14> kShares{0,   0.01, 0.05, 0.1,   0.25,   0.5,     0.75,
                                         0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1};
/// The first of this part of all transfers fill link, caches and queues.
constexpr std::uint64_t kWarmUpPart = 4;
constexpr std::uint64_t kProgressEvery = 1024;
constexpr std::size_t kWritesAhead = 32;

}  // namespace

double PcieMeasurement::quantile_ns(double share) const {
  const auto found =
      std::find_if(quantiles_ns.begin(), quantiles_ns.end(), [share](const auto& row) { return row.first == share; });
  if (found == quantiles_ns.end()) throw std::logic_error("a quantile that is not listed");
  return found->second;
}

/// Issues the transfers of a point and takes their times.
class PcieLoad : public Box, private ReadClient, private WriteClient {
 public:
  PcieLoad(const sc_core::sc_module_name& name, WheelModule& owner, PcieDma& pcie, const NodeConfig& node,
           const PciePoint& point, KeyedRandom random, std::uint32_t transfers,
           std::function<void(std::uint64_t)> on_progress)
      : Box(name, owner),
        pcie_(pcie),
        host_(node.host),
        looks_up_(NicLookups::wanted(node.pcie)),
        order_(node.pcie.relaxed_ordering ? WriteOrder::relaxed : WriteOrder::strict),
        point_(point),
        random_(random),
        transfers_(transfers),
        on_progress_(std::move(on_progress)) {}

  void step(TimePs now) override {
    if (!prepared_) prepare();
    for (; !arriving_.empty() && arriving_.front() <= now; pop_arrived()) {
      pcie_.release_completion_buffer(now, point_.bytes);
    }
    if (is_latency(point_.test)) {
      step_latency(now);
    } else {
      step_bandwidth(now);
    }
    if (!arriving_.empty()) wake_at(arriving_.front());
  }
  const PcieMeasurement& measured() const {
    if (result_.transfers == 0) throw std::logic_error("a PCIe experiment has not finished");
    return result_;
  }

 private:
  bool reads() const { return point_.test != PcieTest::write_latency && point_.test != PcieTest::write_bandwidth; }
  bool writes() const { return point_.test != PcieTest::read_latency && point_.test != PcieTest::read_bandwidth; }
  bool mixed() const { return point_.test == PcieTest::mixed_bandwidth; }

  std::uint64_t address_of(std::uint64_t unit) const {
    return kWindowBase + unit * point_.unit_bytes() + point_.offset_bytes;
  }
  std::uint64_t next_address() {
    const std::uint64_t unit =
        point_.pattern == AccessPattern::random ? random_.below(point_.units()) : sequence_++ % point_.units();
    return address_of(unit);
  }
  /// What has happened before the first transfer that counts: software has used the window, and earlier writes of this
  /// load have found their places in the cache.
  void prepare() {
    prepared_ = true;
    pcie_.use_host(host_, point_.peer_memory);
    pcie_.add_region(kWindowBase, point_.window_bytes);
    if (host_.cache.bytes == 0 || !writes() || point_.peer_memory) return;
    const std::uint64_t last = point_.units();
    const std::uint64_t most = 2 * host_.cache.bytes / point_.unit_bytes() + 1;
    for (std::uint64_t unit = last > most ? last - most : 0; unit < last; ++unit) {
      pcie_.written_before(address_of(unit), point_.bytes);
    }
  }

  void step_latency(TimePs now) {
    if (under_way_ > 0 || issued_ == transfers_) return;
    if (now < next_begin_) {
      wake_at(next_begin_);
      return;
    }
    ++issued_;
    begun_ = now;
    const std::uint64_t address = next_address();
    under_way_ = (reads() ? 1 : 0) + (writes() ? 1 : 0);
    if (writes()) pcie_.write(now, now, address, point_.bytes, *this, issued_, WriteOrder::strict);
    if (reads()) pcie_.read(now, address, point_.bytes, *this, issued_, false);
  }
  void latency_end(TimePs now, TimePs end, bool counts) {
    next_begin_ = std::max(next_begin_, end);
    if (counts) took_.push_back(end - begun_);
    --under_way_;
    wake_at(std::max(now, next_begin_));
    if (under_way_ == 0 && took_.size() == transfers_) finish_latency();
  }

  void step_bandwidth(TimePs now) {
    if (writes() && last_left_ > now) wake_at(last_left_);
    while (issued_ < transfers_) {
      const bool write = writes() && (!mixed() || issued_ % 2 == 1);
      if (write && !issue_write(now)) return;
      if (!write && !issue_read(now)) return;
      ++issued_;
    }
  }
  bool issue_read(TimePs now) {
    if (!pcie_.can_read()) {
      pcie_.wait_read_room(now, *this);
      return false;
    }
    pcie_.read(now, next_address(), point_.bytes, *this, issued_, false);
    return true;
  }
  /// One after another, each handed over when the one before leaves.
  bool issue_write(TimePs now) {
    if (under_way_ >= 2 || last_left_ > now) return false;
    ++under_way_;
    pcie_.write(now, now, next_write_address(now), point_.bytes, *this, issued_, order_);
    return true;
  }
  /// A NIC knows the addresses of packets some time before it writes them, and looks them up.
  std::uint64_t next_write_address(TimePs now) {
    if (!looks_up_) return next_address();
    while (ahead_.size() <= kWritesAhead) {
      ahead_.push_back(next_address());
      pcie_.translate_ahead(now, ahead_.back(), point_.bytes);
    }
    const std::uint64_t address = ahead_.front();
    ahead_.pop_front();
    return address;
  }

  void read_done(std::uint64_t, TimePs now, TimePs done_at) override {
    arriving_.push_back(done_at);
    std::push_heap(arriving_.begin(), arriving_.end(), std::greater<>{});
    wake_at(arriving_.front());
    if (is_latency(point_.test)) {
      latency_end(now, done_at, true);
    } else {
      ended(read_ends_, done_at);
    }
  }
  void write_left(std::uint64_t, TimePs now, TimePs last_end) override {
    if (is_latency(point_.test)) {
      latency_end(now, pcie_.visible_at(last_end), point_.test == PcieTest::write_latency);
      return;
    }
    --under_way_;
    last_left_ = std::max(last_left_, last_end);
    ended(write_ends_, last_end);
    wake_at(std::max(now, last_end));
  }
  void pop_arrived() {
    std::pop_heap(arriving_.begin(), arriving_.end(), std::greater<>{});
    arriving_.pop_back();
  }

  void ended(std::vector<TimePs>& ends, TimePs at) {
    ends.push_back(at);
    const std::uint64_t all = read_ends_.size() + write_ends_.size();
    if (all % kProgressEvery == 0 && on_progress_) on_progress_(all);
    if (all == transfers_) finish_bandwidth();
  }
  double rate_gbps(std::vector<TimePs>& ends) const {
    if (ends.empty()) return 0;
    std::sort(ends.begin(), ends.end());
    const std::size_t first = ends.size() / kWarmUpPart;
    const double bits = static_cast<double>(ends.size() - 1 - first) * point_.bytes * 8.0;
    return bits * 1000.0 / static_cast<double>(ends.back() - ends[first]);
  }
  void finish_bandwidth() {
    const double read = rate_gbps(read_ends_);
    const double write = rate_gbps(write_ends_);
    result_.gbps = mixed() ? std::min(read, write) : read + write;
    finish(transfers_);
  }
  void finish_latency() {
    std::sort(took_.begin(), took_.end());
    for (const double share : kShares) {
      const auto rank = static_cast<std::size_t>(share * static_cast<double>(took_.size() - 1) + 0.5);
      result_.quantiles_ns.emplace_back(share, static_cast<double>(took_[rank]) / 1000.0);
    }
    const double sum = std::accumulate(took_.begin(), took_.end(), 0.0);
    result_.mean_ns = sum / static_cast<double>(took_.size()) / 1000.0;
    finish(took_.size());
  }
  void finish(std::uint64_t transfers) {
    result_.transfers = transfers;
    if (const HostPath* host = pcie_.host_path()) {
      const HostPathCounts counts = host->counts();
      result_.iotlb_lookups = counts.iotlb_lookups;
      result_.page_walks = counts.page_walks;
      result_.cache_misses = counts.cache_misses;
      result_.cache_evictions = counts.cache_evictions;
    }
    const PcieCounts counts = pcie_.counts();
    result_.table_lookups = counts.table_lookups;
    result_.table_misses = counts.table_misses;
    result_.translation_lookups = counts.translation_lookups;
    result_.translation_misses = counts.translation_misses;
    // The next experiment needs the memory.
    pcie_.use_host({}, false);
    for (std::vector<TimePs>* times : {&took_, &read_ends_, &write_ends_}) std::vector<TimePs>().swap(*times);
    if (on_progress_) on_progress_(transfers_);
  }

  PcieDma& pcie_;
  HostPathConfig host_;
  bool looks_up_;
  WriteOrder order_;
  std::deque<std::uint64_t> ahead_;  ///< addresses of the next writes
  PciePoint point_;
  KeyedRandom random_;
  std::uint64_t transfers_;
  std::function<void(std::uint64_t)> on_progress_;
  bool prepared_ = false;
  std::uint64_t issued_ = 0;
  std::uint64_t sequence_ = 0;
  int under_way_ = 0;
  TimePs begun_ = 0;
  TimePs next_begin_ = 0;
  TimePs last_left_ = 0;
  std::vector<TimePs> arriving_;  ///< min-heap: reads reported that hold the completion buffer until then
  std::vector<TimePs> took_;
  std::vector<TimePs> read_ends_;
  std::vector<TimePs> write_ends_;
  PcieMeasurement result_;
};

struct PcieExperiment::Parts {
  Parts(const std::string& name, const NodeConfig& node, const PciePoint& point, std::uint64_t seed,
        std::uint32_t transfers, KernelMode kernel, std::function<void(std::uint64_t)> on_progress)
      : wheel(name.c_str(), kernel, kEndPs),
        pcie(PcieDma::create((name + "_pcie_dma").c_str(), wheel, node.pcie, ClockDomain(node.nic.core_clock_ghz),
                             KeyedRandom(seed, "nic0.pcie"), work, causes)),
        load((name + "_load").c_str(), wheel, *pcie, node, point, KeyedRandom(seed, "pcie_load"), transfers,
             std::move(on_progress)) {
    work.begin(0);
    load.wake_at(0);
  }

  WheelModule wheel;
  WorkClock work;
  CauseTable causes;
  std::unique_ptr<PcieDma> pcie;
  PcieLoad load;
};

PcieExperiment::PcieExperiment(const std::string& name, const NodeConfig& node, const PciePoint& point,
                               std::uint64_t seed, std::uint32_t transfers, KernelMode kernel,
                               std::function<void(std::uint64_t)> on_progress)
    : parts_(std::make_unique<Parts>(name, node, point, seed, transfers, kernel, std::move(on_progress))) {}

PcieExperiment::~PcieExperiment() = default;

const PcieMeasurement& PcieExperiment::measured() const {
  return parts_->load.measured();
}

void run_pcie_experiments() {
  run_kernel_to(kEndPs - 1);
}

}  // namespace mrc
