// What the fuzzers of the text formats have in common: read whole, written out as messages, striped over NICs, counted.
#pragma once

#include <sstream>
#include <string>

#include "traffic/expand_collectives.h"
#include "traffic/nic_lanes.h"
#include "traffic/read_options.h"
#include "traffic/trace_error.h"
#include "traffic/trace_totals.h"
#include "workload_rules.h"

namespace mrc::fuzz {

/// `read(in, options, warnings)` gives a workload that keeps the rules, or throws TraceError.
template <typename Read>
void check_text_reader(const std::uint8_t* data, std::size_t size, Read read) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::uint32_t most : {0U, 4U}) {
    Warnings warnings;
    try {
      std::istringstream in(text);
      const Workload workload = read(in, ReadOptions{.ranks = most, .rows = most, .strict = most != 0}, warnings);
      check_workload(workload);
      if (workload.ranks > 16 || workload.nodes.size() >= 1000) continue;
      Workload messages = expand_collectives(workload, {});
      check_workload(messages);
      if (messages.nodes.size() < 10'000) check_workload(stripe(std::move(messages), 3));
    } catch (const TraceError&) {
    }
    try {
      std::istringstream in(text);
      TraceTotals totals;
      read(in, ReadOptions{.ranks = most, .totals = &totals}, warnings);
    } catch (const TraceError&) {
    }
  }
}

}  // namespace mrc::fuzz
