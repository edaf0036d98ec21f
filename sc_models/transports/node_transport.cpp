#include "transports/node_transport.h"

#include <stdexcept>

#include <fmt/format.h>

#include "transports/list.h"

namespace mrc {

#define MRCSIM_DECLARE(name) std::unique_ptr<NodeTransport> make_##name##_node(NodeContext& node);
MRCSIM_SIMULATED_TRANSPORTS(MRCSIM_DECLARE)
#undef MRCSIM_DECLARE

std::unique_ptr<NodeTransport> make_node_transport(NodeContext& node) {
#define MRCSIM_MAKE(name) \
  if (node.config.transport == #name) return make_##name##_node(node);
  MRCSIM_SIMULATED_TRANSPORTS(MRCSIM_MAKE)
#undef MRCSIM_MAKE
  throw std::logic_error(fmt::format("transport \"{}\" has no nodes", node.config.transport));
}

void NodeTransport::reserve(std::size_t qps) {
  node_.qps.reserve(qps);
  node_.congestion.reserve(qps);
}

void NodeTransport::close(Qp&, Psn) {
  throw std::logic_error(fmt::format("QPs of transport \"{}\" stay connected", node_.config.transport));
}

void NodeTransport::reopen(Qp&, Psn) {
  throw std::logic_error(fmt::format("QPs of transport \"{}\" stay connected", node_.config.transport));
}

Qp& NodeTransport::add_qp() {
  node_.qps.emplace_back();
  Qp& qp = node_.qps.back();
  qp.number = kFirstQpNumber + static_cast<QpNumber>(node_.qps.size() - 1);
  return qp;
}

}  // namespace mrc
