#include "simulation/waits.h"

#include <systemc>

#include <fmt/format.h>

#include "programs/programs.h"

namespace mrc {
namespace {

constexpr std::size_t kMostQpWaits = 8;
constexpr std::size_t kMostWorkWaitsPerNode = 2;

}  // namespace

std::vector<std::string> qp_waits(const SimulationNode& node) {
  const TimePs now = sc_core::sc_time_stamp().value();
  std::vector<std::string> lines;
  for (const Qp& qp : node.context.qps) {
    if (!qp.sender || qp.sender->messages_pending() == 0 || lines.size() >= kMostQpWaits) continue;
    lines.push_back(
        fmt::format("{} QP {} to nic{} waits for {}", node.name, qp.number, qp.peer, qp.sender->describe_wait(now)));
  }
  return lines;
}

std::vector<std::string> work_waits(const SimulationNode& node) {
  std::vector<std::string> lines = node.player().describe_waits(kMostWorkWaitsPerNode);
  if (node.endpoint == nullptr || node.endpoint->reductions() == nullptr) return lines;
  for (std::string& line : node.endpoint->reductions()->describe_waits(kMostWorkWaitsPerNode)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> describe_stall(const Model& model) {
  std::vector<std::string> lines;
  for (const auto& node : model.nodes) {
    for (std::string& line : node->here ? qp_waits(*node) : node->waits_elsewhere.qps) {
      if (lines.size() < kMostQpWaits) lines.push_back(std::move(line));
    }
    for (std::string& line : node->here ? work_waits(*node) : node->waits_elsewhere.work) {
      lines.push_back(std::move(line));
    }
  }
  if (model.options.programs != nullptr) {
    for (std::string& line : model.options.programs->describe_waits()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace mrc
