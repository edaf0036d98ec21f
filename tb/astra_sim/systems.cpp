#include "astra_sim/systems.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"
#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "astra_sim/live_network.h"
#include "remote_memory_backend/analytical/AnalyticalRemoteMemory.hh"

namespace mrc {
namespace {

constexpr int kBadInput = 2;

/// ASTRA-sim calls exit(1) for what it does not like in its files, also while it plays them. Nothing else here does.
bool plays_files = false;

void leave_for_bad_input() {
  if (!plays_files) return;
  std::fflush(stdout);
  AstraSim::LoggerFactory::shutdown();  // whose last line says why
  _exit(kBadInput);
}

double nanoseconds(const AstraSim::timespec_t& time) {
  constexpr double per_second = 1e9;
  constexpr double per_ms = 1e6;
  constexpr double per_us = 1e3;
  constexpr double per_fs = 1e-6;
  const auto value = static_cast<double>(time.time_val);
  switch (time.time_res) {
    case AstraSim::SE:
      return value * per_second;
    case AstraSim::MS:
      return value * per_ms;
    case AstraSim::US:
      return value * per_us;
    case AstraSim::FS:
      return value * per_fs;
    case AstraSim::NS:
      break;
  }
  return value;
}

/// ASTRA-sim's network API, of one system.
class NetworkApi : public AstraSim::AstraNetworkAPI {
 public:
  using Function = void (*)(void*);

  NetworkApi(int rank, LiveNetwork& network) : AstraNetworkAPI(rank), network_(network) {}

  int sim_send(void*, uint64_t count, int, int dst, int tag, AstraSim::sim_request*, Function handler,
               void* argument) override {
    network_.send(message(rank, dst, count, tag), {handler, argument});
    return 0;
  }
  int sim_recv(void*, uint64_t count, int, int src, int tag, AstraSim::sim_request*, Function handler,
               void* argument) override {
    network_.receive(message(src, rank, count, tag), {handler, argument});
    return 0;
  }
  void sim_schedule(AstraSim::timespec_t delta, Function handler, void* argument) override {
    network_.schedule(static_cast<std::uint32_t>(rank), nanoseconds(delta), {handler, argument});
  }
  AstraSim::timespec_t sim_get_time() override { return {AstraSim::NS, static_cast<long double>(network_.now_ns())}; }
  double get_BW_at_dimension(int) override { return network_.gigabytes_per_second(); }
  void sim_notify_finished() override { network_.finish(static_cast<std::uint32_t>(rank)); }

 private:
  /// A message has at least one byte.
  static LiveMessage message(int from, int to, uint64_t count, int tag) {
    return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), count > 0 ? count : 1,
            static_cast<std::uint32_t>(tag)};
  }

  LiveNetwork& network_;
};

void fire(void* workload) {
  static_cast<AstraSim::Workload*>(workload)->fire();
}

}  // namespace

struct AstraSystems::Parts {
  explicit Parts(LiveNetwork& of) : network(of) {}
  LiveNetwork& network;
  std::unique_ptr<Analytical::AnalyticalRemoteMemory> memory;
  std::vector<std::unique_ptr<NetworkApi>> apis;
  std::vector<std::unique_ptr<AstraSim::Sys>> systems;
};

AstraSystems::AstraSystems(const AstraOptions& options, const std::vector<int>& dimensions, LiveNetwork& network)
    : parts_(std::make_unique<Parts>(network)) {
  std::atexit(leave_for_bad_input);
  plays_files = true;
  AstraSim::LoggerFactory::init(options.logging, options.logging_folder);
  parts_->memory = std::make_unique<Analytical::AnalyticalRemoteMemory>(options.remote_memory);
  int systems = 1;
  for (const int size : dimensions) systems *= size;
  const std::vector<int> queues(dimensions.size(), options.queues_per_dimension);
  for (int i = 0; i < systems; ++i) {
    parts_->apis.push_back(std::make_unique<NetworkApi>(i, network));
    parts_->systems.push_back(std::make_unique<AstraSim::Sys>(
        i, options.workload, options.comm_group, options.system, parts_->memory.get(), parts_->apis.back().get(),
        dimensions, queues, options.injection_scale, options.comm_scale, options.rendezvous));
  }
}

AstraSystems::~AstraSystems() {
  plays_files = false;
  parts_->systems.clear();
  AstraSim::LoggerFactory::shutdown();
}

void AstraSystems::schedule_start() {
  for (std::size_t i = 0; i < parts_->systems.size(); ++i)
    parts_->network.schedule(static_cast<std::uint32_t>(i), 0, {fire, parts_->systems[i]->workload});
}

}  // namespace mrc
