// One file of a Chakra execution trace, unchanged: before its nodes become work.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chakra.pb.h"
#include "traffic/read_options.h"

namespace mrc {

struct EtNode {
  std::uint64_t id = 0;
  ::mrcsim::chakra::NodeType type = ::mrcsim::chakra::INVALID_NODE;
  std::uint64_t duration_us = 0;
  std::vector<std::uint64_t> data_ids;
  std::vector<std::uint64_t> control_ids;
  std::vector<std::uint32_t> data;     ///< positions in the file of data_ids
  std::vector<std::uint32_t> control;  ///< positions in the file of control_ids
  std::optional<std::int64_t> comm_type;
  std::optional<std::int64_t> comm_size;
  std::optional<std::int64_t> comm_src;
  std::optional<std::int64_t> comm_dst;
  std::optional<std::int64_t> comm_tag;
  std::optional<std::int64_t> comm_root;
  std::optional<std::int64_t> comm_priority;
  bool on_cpu = false;  ///< is_cpu_op
  std::string group;    ///< pg_name; empty: all ranks
};

struct EtFile {
  std::string name;
  std::vector<EtNode> nodes;
  std::string place(const EtNode& node) const { return name + ": node " + std::to_string(node.id); }
};

/// Positions are not filled in. Throws TraceError for a file that is empty, damaged or cut off, with the number of
/// nodes before the damage.
EtFile read_et_file(const std::string& name, const ReadProgress& progress);

/// As read_et_file(), one node at a time.
void for_each_et_node(const std::string& name, const ReadProgress& progress, const std::function<void(EtNode&)>& take);

}  // namespace mrc
