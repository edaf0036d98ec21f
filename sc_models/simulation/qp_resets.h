// QPs that software tears down at both ends and connects anew, with other PSNs, as it does when a job begins again
// ([[fault]] kind = "qp_reset"). From the fault's time on it posts nothing to them. Each end tells the other when all
// that it has sent is complete, and when nothing of the QP is left in its NIC; what it says takes a while, by means
// that the model does not have. When both know, the QP is up again at both at the same time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fabric/port_status_step.h"
#include "mrc/types.h"

namespace mrc {

struct Model;

class QpResets {
 public:
  /// `model` outlives it; its devices are built. Throws ParameterError, with file and line of the fault, and
  /// std::invalid_argument for what cannot have it.
  explicit QpResets(const Model& model);
  ~QpResets();

  /// What was done at a node, for the event log.
  std::span<const PortStatusStep> steps_of(NodeId node) const;

 private:
  class Software;
  struct Told;
  struct Connection;

  void add(const Model& model, std::uint32_t fault);
  Software& at(const Model& model, NodeId node);

  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Software>> software_;  ///< by node, null where it has nothing to do
};

}  // namespace mrc
