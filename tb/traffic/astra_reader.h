// ASTRA-sim and SimAI workload text: a training step as rows of layers, which every rank carries out.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

/// A file that begins with this word is ASTRA-sim workload text.
bool is_astra_head(std::string_view word);

/// The step as ASTRA-sim's training loop of that kind of parallelism plays it (docs/traces.md has the table): forward
/// through the rows, each row's computation and then its collective; backward through them, input gradient and weight
/// gradient (DATA and HYBRID_DLRM: the other way round). Weight gradients' collectives run beside what follows, and the
/// row's update follows them. MICRO plays the weight gradients' collectives only, one row after another;
/// DISTRIBUTED_INFERENCE the forward pass only. Rows named by checkpoint_initiates run the rows since their checkpoint
/// forward once more before their input gradient.
/// Groups: tensor parallel ranks are neighbours, then expert parallel ones, then data parallel ones; suffixes _EP,
/// _DP_EP, _TP, _DP name the group, otherwise the kind of parallelism does. Where it speaks of dimensions
/// (HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_CUSTOMIZED) the inner one has `options.ranks_per_host` ranks, the
/// outer one the rest (assumption). `options.ranks` cuts the world: the tensor parallel group stays, expert parallel
/// groups become as large as divides what is left, and there is one pipeline stage. Throws TraceError with `name` and
/// line; bytes without a time of their own, as of pipeline stages, are told in `warnings`.
Workload read_astra(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings);

}  // namespace mrc
