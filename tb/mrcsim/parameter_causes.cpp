#include "mrcsim/parameter_causes.h"

#include <functional>
#include <map>
#include <memory>

#include "engine/cause.h"
#include "host/workload.h"
#include "parameters/scenario.h"
#include "simulation/build.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

/// One message, so that there is a QP.
Workload one_message() {
  WorkloadBuilder builder;
  WorkNode send;
  send.kind = WorkKind::send;
  send.peer = 1;
  send.bytes = 1;
  WorkNode receive = send;
  receive.kind = WorkKind::receive;
  receive.rank = 1;
  receive.peer = 0;
  const std::uint32_t sent = builder.add(send);
  builder.match(sent, builder.add(receive));
  return builder.finish(2);
}

std::map<std::string, std::vector<std::string>, std::less<>> causes_by_parameter() {
  // With the engines, which are built only where packets are encrypted.
  const ScenarioConfig scenario =
      make_scenario({{"traffic.trace=none", "protocol.encryption.framing=psp", "fabric.trim_bytes=192"}, {}});
  const Workload workload = one_message();
  const std::unique_ptr<Model> model = build_model(scenario, workload, {0, 1}, {});
  const CauseTable& causes = model->nodes.front()->boxes->causes;
  std::map<std::string, std::vector<std::string>, std::less<>> names;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    for (const std::string& key : causes.relieved_by(Cause::at(i))) names[key].push_back(causes.name(Cause::at(i)));
  }
  return names;
}

}  // namespace

std::vector<std::string> causes_relieved_by(std::string_view parameter) {
  static const auto names = causes_by_parameter();
  const auto found = names.find(parameter);
  return found == names.end() ? std::vector<std::string>() : found->second;
}

}  // namespace mrc
