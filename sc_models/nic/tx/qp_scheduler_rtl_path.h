// The ready list and the contexts of qp_scheduler by RTL: each operation of the box goes through the engine, and what
// becomes of turns and lookups is compared with ring 1. In `rtl` mode the engine alone says whose turn it is and
// whether its context is there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/rtl_path.h"
#include "nic/tx/qp_scheduler_engine.h"
#include "parameters/pipeline_config.h"

namespace mrc {

class QpSchedulerRtlPath : public RtlPath {
 public:
  QpSchedulerRtlPath(RtlMode mode, std::unique_ptr<QpSchedulerEngine> engine, const QpSchedulerSizes& sizes,
                     NodeId node, const PipelineConfig& box)
      : RtlPath("qp_scheduler", mode), engine_(std::move(engine)), sizes_(sizes), node_(node), box_(box) {}

  const QpSchedulerSizes& sizes() const { return sizes_; }
  void activate(std::uint32_t qp);
  /// `expected`: what ring 1 says of the turn; returns what counts. `cycle`: of the core clock.
  ContextReply turn(const ContextReply& expected, bool room, std::uint64_t cycle);
  void give_back(std::uint32_t qp, std::uint32_t slot, bool again);
  ContextReply look(const ContextReply& expected, bool room, std::uint64_t cycle);
  void fill(std::uint32_t qp, bool list, bool used);
  void drop(std::uint32_t qp);
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  /// False once what is in the RTL has gone another way and is not to be asked any more.
  bool asks() const { return drives() || mismatches() == 0; }
  ContextReply judge(const char* what, const ContextReply& expected, const ContextReply& reply, std::uint64_t cycle);

  std::unique_ptr<QpSchedulerEngine> engine_;
  QpSchedulerSizes sizes_;
  NodeId node_;
  PipelineConfig box_;
};

}  // namespace mrc
