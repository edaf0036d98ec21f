#include "fit/curve_model.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "latency/latency_terms.h"
#include "parameters/parameter_value.h"
#include "pcie/pcie_experiment.h"

namespace mrc {
namespace {

/// Values of a curve that come from the same transfers, such as two quantiles.
bool same_experiment(const MeasuredValue& a, const MeasuredValue& b) {
  const auto key = [](const MeasuredValue& v) {
    return std::tuple(v.point.test, v.point.bytes, v.point.offset_bytes, v.point.window_bytes, v.point.pattern,
                      v.point.peer_memory, v.place.cache, v.place.remote_share);
  };
  return key(a) == key(b);
}

/// Of each value, the first with the same experiment.
std::vector<std::size_t> experiments_of(const std::vector<MeasuredValue>& curves) {
  std::vector<std::size_t> of(curves.size());
  for (std::size_t i = 0; i < curves.size(); ++i) {
    std::size_t first = 0;
    while (!same_experiment(curves[first], curves[i])) ++first;
    of[i] = first;
  }
  return of;
}

/// What of a scenario a curve is measured with.
NodeConfig node_for(const ScenarioConfig& scenario, const PciePlace& place) {
  NodeConfig node = scenario.node_default;
  put_at(place, node.host);
  return node;
}

double one_way_ns(const ScenarioConfig& scenario, std::uint32_t bytes) {
  const std::vector<LatencyTerm> terms = latency_terms(scenario, bytes);
  return std::accumulate(terms.begin(), terms.end(), 0.0,
                         [](double sum, const LatencyTerm& term) { return sum + term.ns; });
}

double measured_of(const MeasuredValue& value, const PcieMeasurement& measurement) {
  if (value.kind == CurveKind::rate) return measurement.gbps;
  return value.share == 0 ? measurement.mean_ns : measurement.quantile_ns(value.share);
}

/// The values of some scenarios, one behind the other.
std::vector<double> compute(const std::vector<MeasuredValue>& curves,
                            const std::vector<const ScenarioConfig*>& scenarios, std::uint32_t transfers) {
  const std::vector<std::size_t> of = experiments_of(curves);
  std::vector<std::unique_ptr<PcieExperiment>> experiments;
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
      experiments.emplace_back();
      if (of[i] != i || curves[i].kind == CurveKind::write_latency) continue;
      experiments.back() = std::make_unique<PcieExperiment>(
          fmt::format("point{}_{}", s, i), node_for(*scenarios[s], curves[i].place), curves[i].point,
          scenarios[s]->seed, transfers, scenarios[s]->run.kernel, nullptr);
    }
  }
  run_pcie_experiments();
  std::vector<double> values;
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
      if (curves[i].kind == CurveKind::write_latency) {
        values.push_back(one_way_ns(*scenarios[s], curves[i].point.bytes));
      } else {
        values.push_back(measured_of(curves[i], experiments[s * curves.size() + of[i]]->measured()));
      }
    }
  }
  return values;
}

/// A process that computes the values of some scenarios and writes them into a pipe.
class Worker {
 public:
  Worker(const std::vector<MeasuredValue>& curves, const std::vector<const ScenarioConfig*>& scenarios,
         std::uint32_t transfers)
      : expected_(curves.size() * scenarios.size()) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
    std::fflush(nullptr);
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ < 0) throw std::runtime_error(fmt::format("no process can be started: {}", std::strerror(errno)));
    if (process_ == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      work(curves, scenarios, transfers, ends[1]);
    }
    close(ends[1]);
    read_end_ = ends[0];
  }
  std::vector<double> result() {
    std::vector<double> values(expected_);
    char* at = reinterpret_cast<char*>(values.data());
    std::size_t left = values.size() * sizeof(double);
    while (left > 0) {
      const ssize_t got = read(read_end_, at, left);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      at += got;
      left -= static_cast<std::size_t>(got);
    }
    close(read_end_);
    int status = 0;
    waitpid(process_, &status, 0);
    if (left > 0 || status != 0) throw std::runtime_error("a process that computes a curve has failed");
    return values;
  }

 private:
  [[noreturn]] static void work(const std::vector<MeasuredValue>& curves,
                                const std::vector<const ScenarioConfig*>& scenarios, std::uint32_t transfers, int out) {
    try {
      const std::vector<double> values = compute(curves, scenarios, transfers);
      const char* at = reinterpret_cast<const char*>(values.data());
      for (std::size_t left = values.size() * sizeof(double); left > 0;) {
        const ssize_t gone = write(out, at, left);
        if (gone < 0 && errno == EINTR) continue;
        if (gone <= 0) _exit(1);
        at += gone;
        left -= static_cast<std::size_t>(gone);
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "mrcsim: {}\n", error.what());
      _exit(1);
    }
    // Nothing of the parent's is to be flushed or destroyed a second time.
    _exit(0);
  }

  std::size_t expected_;
  pid_t process_ = 0;
  int read_end_ = 0;
};

}  // namespace

std::vector<std::vector<double>> values_of_model(const std::vector<MeasuredValue>& curves,
                                                 const std::vector<ScenarioConfig>& scenarios,
                                                 std::uint32_t transfers) {
  const std::size_t workers =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), scenarios.size());
  std::vector<std::vector<const ScenarioConfig*>> shares(workers);
  for (std::size_t s = 0; s < scenarios.size(); ++s) shares[s % workers].push_back(&scenarios[s]);
  std::vector<std::unique_ptr<Worker>> running;
  for (const auto& share : shares) running.push_back(std::make_unique<Worker>(curves, share, transfers));
  std::vector<std::vector<double>> values(scenarios.size());
  std::exception_ptr failure;
  for (std::size_t w = 0; w < workers; ++w) {
    try {
      const std::vector<double> all = running[w]->result();
      for (std::size_t k = 0; k < shares[w].size(); ++k) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(k * curves.size());
        values[w + k * workers].assign(begin, begin + static_cast<std::ptrdiff_t>(curves.size()));
      }
    } catch (const std::runtime_error&) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return values;
}

}  // namespace mrc
