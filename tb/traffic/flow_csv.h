// Flows as lines of text: `start_us,src,dst,bytes,tag`, each an RDMA WRITE of `bytes` from rank src to rank dst that is
// posted at start_us. The header line is part of the format.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

inline constexpr std::string_view kFlowCsvHeader = "start_us,src,dst,bytes,tag";
/// The same with a priority for each flow.
inline constexpr std::string_view kFlowCsvPriorityHeader = "start_us,src,dst,bytes,tag,priority";

/// Ranges: start_us 0 … 10^12, ranks 0 … 131,071 and different, bytes 1 … 2^40, tag 32 bits, priority 0 … 3.
/// Throws TraceError with `name`, line and column for anything else.
Workload read_flow_csv(std::istream& in, const std::string& name, const ReadOptions& options = {});

/// The sends of `workload` in the order of `starts` (of its nodes), as the text of a flow CSV.
std::string flow_csv_text(const Workload& workload, const std::vector<TimePs>& starts);

}  // namespace mrc
