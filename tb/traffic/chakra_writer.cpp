#include "traffic/chakra_writer.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "chakra.pb.h"
#include "results/output_directory.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

constexpr std::string_view kRank = "{rank}";

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

pb::Node to_message(const WorkNode& work, std::uint64_t id) {
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
      add_attribute(node, "is_cpu_op", [](pb::Attribute& a) { a.set_bool_value(false); });
      break;
  }
  return node;
}

}  // namespace

void write_chakra(const Workload& workload, const std::string& pattern) {
  const std::size_t at = pattern.find(kRank);
  if (at == std::string::npos) throw TraceError(pattern, "is no pattern: a file a rank needs {rank} in its name");
  // Node ids are positions in the rank's file.
  std::vector<std::vector<pb::Node>> files(workload.ranks);
  std::vector<std::uint64_t> id_of(workload.nodes.size());
  for (std::size_t i = 0; i < workload.nodes.size(); ++i) {
    auto& file = files[workload.nodes[i].rank];
    id_of[i] = file.size();
    file.push_back(to_message(workload.nodes[i], file.size()));
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
    file.push_back(to_message(receive, file.size()));
  }
  for (std::uint32_t rank = 0; rank < workload.ranks; ++rank) {
    std::ostringstream out;
    pb::GlobalMetadata metadata;
    metadata.set_version("0.0.4");
    google::protobuf::util::SerializeDelimitedToOstream(metadata, &out);
    for (const pb::Node& node : files[rank]) google::protobuf::util::SerializeDelimitedToOstream(node, &out);
    std::string name = pattern;
    write_whole_file(name.replace(at, kRank.size(), std::to_string(rank)), out.str());
  }
}

}  // namespace mrc
