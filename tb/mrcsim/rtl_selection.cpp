#include "mrcsim/rtl_selection.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cosim/rtl_blocks.h"
#include "parameters/registry.h"

namespace mrc {
namespace {

constexpr const char* kAllBlocks = "all";

NodeId parse_node(const std::string& option, const std::string& text, std::uint32_t nodes) {
  NodeId node = 0;
  const char* end = text.data() + text.size();
  const bool named = text.starts_with("nic") && text.size() > 3;
  const auto parsed = named ? std::from_chars(text.data() + 3, end, node)
                            : std::from_chars_result{text.data(), std::errc::invalid_argument};
  if (parsed.ec != std::errc() || parsed.ptr != end || node >= nodes) {
    throw RtlSelectionError(fmt::format("{}: unknown node {}; allowed: nic0 … nic{}", option, text, nodes - 1));
  }
  return node;
}

void add(std::vector<RtlSelection>& selections, const std::string& option, const RtlSelection& selection) {
  const bool twice = std::any_of(selections.begin(), selections.end(), [&](const RtlSelection& other) {
    return other.block == selection.block && other.node == selection.node;
  });
  if (twice)
    throw RtlSelectionError(fmt::format("{}: {}@nic{} is selected twice", option, selection.block, selection.node));
  selections.push_back(selection);
}

void parse_list(std::vector<RtlSelection>& selections, const std::string& option, const std::string& list, RtlMode mode,
                std::uint32_t nodes) {
  const std::vector<std::string> blocks = rtl_block_names();
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    const std::string item = list.substr(start, comma - start);
    start = comma + 1;
    const std::size_t at = item.find('@');
    const std::string block = item.substr(0, at);
    if (block != kAllBlocks && std::find(blocks.begin(), blocks.end(), block) == blocks.end()) {
      throw RtlSelectionError(fmt::format("{}: no RTL block {}; there are: {}; nearest: {}", option, block,
                                          fmt::join(blocks, ", "), nearest(block, blocks)));
    }
    const std::vector<std::string> chosen = block == kAllBlocks ? blocks : std::vector<std::string>{block};
    const bool one_node = at != std::string::npos;
    const NodeId first = one_node ? parse_node(option, item.substr(at + 1), nodes) : 0;
    const NodeId last = one_node ? first : nodes - 1;
    for (NodeId node = first; node <= last; ++node) {
      for (const std::string& name : chosen) add(selections, option, {name, node, mode});
    }
  }
}

}  // namespace

std::vector<RtlSelection> parse_rtl_selections(const std::string& rtl, const std::string& shadow, std::uint32_t nodes) {
  std::vector<RtlSelection> selections;
  parse_list(selections, "--rtl", rtl, RtlMode::rtl, nodes);
  parse_list(selections, "--shadow", shadow, RtlMode::shadow, nodes);
  return selections;
}

void clock_by_pins(std::vector<RtlSelection>& selections) {
  bool any = false;
  for (RtlSelection& selection : selections) {
    if (selection.mode != RtlMode::rtl) continue;
    any = true;
    selection.timing = RtlTiming::pins;
  }
  if (!any) throw RtlSelectionError("--rtl-timing pins: no block is selected; allowed: with --rtl BLOCK[@NODE],…");
}

}  // namespace mrc
