// ASTRA-sim and SimAI workload text: a training step as rows of layers, which every rank carries out.
#pragma once

#include <istream>
#include <string>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

/// The step as ASTRA-sim plays it: forward through the rows, each row's computation and then its collective; backward
/// through them, weight gradients and then input gradients; the weight gradients' collectives run beside what follows,
/// and the row's update follows them. Groups: tensor parallel ranks are neighbours, then expert parallel ones, then
/// data parallel ones; a kind without suffix speaks of the tensor parallel group, in weight gradients of the data
/// parallel one; suffixes _EP, _DP_EP, _TP, _DP name the group. `options.ranks` cuts the world: the tensor parallel
/// group stays, expert parallel groups become as large as divides what is left, and there is one pipeline stage. Throws
/// TraceError with `name` and line; bytes without a time of their own, as of pipeline stages, are told in `warnings`.
Workload read_astra(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings);

}  // namespace mrc
