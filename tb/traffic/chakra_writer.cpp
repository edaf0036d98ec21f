#include "traffic/chakra_writer.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "chakra.pb.h"
#include "results/output_file.h"
#include "traffic/load_trace.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

template <typename Setter>
void add_attribute(pb::Node& node, const char* name, Setter set) {
  pb::Attribute* attribute = node.add_attr();
  attribute->set_name(name);
  set(*attribute);
}

void add_communication(pb::Node& node, std::uint64_t bytes, std::uint32_t source, std::uint32_t destination,
                       std::uint32_t tag) {
  add_attribute(node, "is_cpu_op", [](pb::Attribute& a) { a.set_bool_value(false); });
  add_attribute(node, "comm_size", [&](pb::Attribute& a) { a.set_int64_value(static_cast<std::int64_t>(bytes)); });
  add_attribute(node, "comm_src", [&](pb::Attribute& a) { a.set_int32_value(static_cast<std::int32_t>(source)); });
  add_attribute(node, "comm_dst", [&](pb::Attribute& a) { a.set_int32_value(static_cast<std::int32_t>(destination)); });
  add_attribute(node, "comm_tag", [&](pb::Attribute& a) { a.set_int32_value(static_cast<std::int32_t>(tag)); });
}

/// The format's number of a kind.
std::int64_t number_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 0;
    case CollectiveKind::reduce:
      return 1;
    case CollectiveKind::all_gather:
      return 2;
    case CollectiveKind::gather:
      return 3;
    case CollectiveKind::scatter:
      return 4;
    case CollectiveKind::broadcast:
      return 5;
    case CollectiveKind::all_to_all:
      return 6;
    case CollectiveKind::reduce_scatter:
      return 7;
    case CollectiveKind::barrier:
      return 9;
  }
  return 0;
}

void add_collective(pb::Node& node, const Workload& workload, const Collective& collective) {
  add_attribute(node, "is_cpu_op", [](pb::Attribute& a) { a.set_bool_value(false); });
  add_attribute(node, "comm_type", [&](pb::Attribute& a) { a.set_int64_value(number_of(collective.kind)); });
  add_attribute(node, "comm_size",
                [&](pb::Attribute& a) { a.set_int64_value(static_cast<std::int64_t>(collective.bytes)); });
  const std::vector<std::uint32_t>& ranks = workload.groups[collective.group].ranks;
  if (collective.root != 0) {
    add_attribute(node, "root_rank",
                  [&](pb::Attribute& a) { a.set_int32_value(static_cast<std::int32_t>(ranks[collective.root])); });
  }
  if (ranks.size() == workload.ranks) return;
  add_attribute(node, "pg_name", [&](pb::Attribute& a) { a.set_string_value(std::to_string(collective.group)); });
}

pb::Node to_message(const Workload& workload, const WorkNode& work, std::uint64_t id) {
  pb::Node node;
  node.set_id(id);
  node.set_duration_micros(work.duration / kPsPerUs);
  switch (work.kind) {
    case WorkKind::send:
      node.set_type(pb::COMM_SEND_NODE);
      node.set_name(fmt::format("send_{}_{}", work.peer, id));
      add_communication(node, work.bytes, work.rank, work.peer, work.tag);
      break;
    case WorkKind::receive:
      node.set_type(pb::COMM_RECV_NODE);
      node.set_name(fmt::format("recv_{}_{}", work.peer, id));
      add_communication(node, work.bytes, work.peer, work.rank, work.tag);
      break;
    case WorkKind::compute:
      node.set_type(pb::COMP_NODE);
      node.set_name(fmt::format("comp_{}", id));
      add_attribute(node, "is_cpu_op", [&](pb::Attribute& a) { a.set_bool_value(work.stream == kNoStream); });
      break;
    case WorkKind::collective: {
      const Collective& collective = workload.collectives[work.match];
      node.set_type(pb::COMM_COLL_NODE);
      node.set_name(fmt::format("{}_{}", to_string(collective.kind), id));
      add_collective(node, workload, collective);
      break;
    }
    case WorkKind::reduction:  // traces are written with their collectives, or with messages
      break;
  }
  if (work.traffic_class != 0) {
    add_attribute(node, "comm_priority", [&](pb::Attribute& a) { a.set_int32_value(work.traffic_class); });
  }
  return node;
}

}  // namespace

void write_chakra(const Workload& workload, const std::string& pattern) {
  const std::size_t at = pattern.find(kRankInName);
  if (at == std::string::npos)
    throw TraceError(pattern, "is not a pattern: one file per rank needs {rank} in its name");
  // Node ids are positions in the rank's file.
  std::vector<std::vector<pb::Node>> files(workload.ranks);
  std::vector<std::uint64_t> id_of(workload.nodes.size());
  for (std::size_t i = 0; i < workload.nodes.size(); ++i) {
    auto& file = files[workload.nodes[i].rank];
    id_of[i] = file.size();
    file.push_back(to_message(workload, workload.nodes[i], file.size()));
  }
  for (std::size_t i = 0; i < workload.nodes.size(); ++i) {
    const WorkNode& node = workload.nodes[i];
    for (std::uint32_t d = 0; d < node.dependents; ++d) {
      const std::uint32_t dependent = workload.dependents[node.first_dependent + d];
      files[node.rank][id_of[dependent]].add_data_deps(id_of[i]);
    }
    if (node.kind != WorkKind::send || node.match != kNoWork) continue;
    WorkNode receive = node;
    receive.kind = WorkKind::receive;
    receive.rank = node.peer;
    receive.peer = node.rank;
    auto& file = files[node.peer];
    file.push_back(to_message(workload, receive, file.size()));
  }
  for (std::uint32_t rank = 0; rank < workload.ranks; ++rank) {
    std::ostringstream out;
    pb::GlobalMetadata metadata;
    metadata.set_version("0.0.4");
    google::protobuf::util::SerializeDelimitedToOstream(metadata, &out);
    for (const pb::Node& node : files[rank]) google::protobuf::util::SerializeDelimitedToOstream(node, &out);
    std::string name = pattern;
    write_whole_file(name.replace(at, kRankInName.size(), std::to_string(rank)), out.str(), {"a trace", ""});
  }
}

}  // namespace mrc
