#include "traffic/chakra_reader.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_set>

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "chakra.pb.h"
#include "traffic/et_dependencies.h"
#include "traffic/et_file.h"
#include "traffic/message_matcher.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

/// The format's kinds of collectives, by number.
constexpr std::array<CollectiveKind, 10> kKinds{CollectiveKind::all_reduce,     CollectiveKind::reduce,
                                                CollectiveKind::all_gather,     CollectiveKind::gather,
                                                CollectiveKind::scatter,        CollectiveKind::broadcast,
                                                CollectiveKind::all_to_all,     CollectiveKind::reduce_scatter,
                                                CollectiveKind::reduce_scatter, CollectiveKind::barrier};

/// A collective without comm_type is work of the host.
bool is_collective(const EtNode& node) {
  return node.type == pb::COMM_COLL_NODE && node.comm_type.has_value();
}

/// Metadata and memory nodes take no time; a node of no type is work that a tool left unnamed.
bool takes_time(const EtNode& node) {
  return node.type == pb::COMP_NODE || node.type == pb::COMM_COLL_NODE || node.type == pb::INVALID_NODE;
}

/// What a node means by itself, with its fields checked.
class NodeReader {
 public:
  explicit NodeReader(std::string file, std::uint32_t rank) : file_(std::move(file)), rank_(rank) {}

  std::string place(const EtNode& node) const { return fmt::format("{}: node {}", file_, node.id); }
  WorkNode work_of(const EtNode& node) const {
    WorkNode work;
    work.rank = rank_;
    work.origin = node.id;
    work.traffic_class =
        class_of_priority(static_cast<std::uint64_t>(std::max<std::int64_t>(node.comm_priority.value_or(0), 0)));
    if (node.type == pb::COMM_SEND_NODE) {
      require_own(node, "comm_src", node.comm_src);
      work.kind = WorkKind::send;
      work.bytes = size(node);
      work.peer = peer(node, "comm_dst", node.comm_dst);
      work.tag = tag(node);
    } else if (node.type == pb::COMM_RECV_NODE) {
      require_own(node, "comm_dst", node.comm_dst);
      work.kind = WorkKind::receive;
      work.bytes = size(node);
      work.peer = peer(node, "comm_src", node.comm_src);
      work.tag = tag(node);
    } else if (is_collective(node)) {
      work.kind = WorkKind::collective;
    } else {
      work.duration = takes_time(node) ? duration(node) : 0;
      // Only what an accelerator runs takes turns with other work of its kind.
      if (node.type == pb::COMP_NODE && !node.on_cpu) work.stream = kComputeStream;
    }
    return work;
  }
  Collective collective_of(const EtNode& node) const {
    const auto kind = attribute(node, "comm_type", node.comm_type, 0, static_cast<std::int64_t>(kKinds.size()) - 1);
    Collective collective;
    collective.kind = kKinds[static_cast<std::size_t>(kind)];
    collective.bytes = collective.kind == CollectiveKind::barrier ? 0 : size(node);
    return collective;
  }
  std::uint32_t root_of(const EtNode& node, const std::vector<std::uint32_t>& ranks) const {
    if (!node.comm_root) return 0;
    const auto at = std::find(ranks.begin(), ranks.end(), *node.comm_root);
    if (at != ranks.end()) return static_cast<std::uint32_t>(at - ranks.begin());
    throw TraceError(place(node), fmt::format("root_rank is {}, which is not a member of the group", *node.comm_root));
  }

 private:
  TimePs duration(const EtNode& node) const {
    if (node.duration_us <= kMostTraceTimeUs) return node.duration_us * kPsPerUs;
    throw TraceError(place(node),
                     fmt::format("duration_micros is {}; allowed: 0 … {}", node.duration_us, kMostTraceTimeUs));
  }
  std::int64_t attribute(const EtNode& node, const char* name, const std::optional<std::int64_t>& value,
                         std::int64_t minimum, std::int64_t maximum) const {
    if (value && *value >= minimum && *value <= maximum) return *value;
    throw TraceError(place(node), fmt::format("{} is {}; allowed: an integer {} … {}", name,
                                              value ? std::to_string(*value) : "absent", minimum, maximum));
  }
  std::uint64_t size(const EtNode& node) const {
    return static_cast<std::uint64_t>(attribute(node, "comm_size", node.comm_size, 1, kMostMessageBytes));
  }
  std::uint32_t tag(const EtNode& node) const {
    return static_cast<std::uint32_t>(
        attribute(node, "comm_tag", node.comm_tag.value_or(0), std::numeric_limits<std::int32_t>::min(), 0xFFFF'FFFF));
  }
  std::uint32_t peer(const EtNode& node, const char* name, const std::optional<std::int64_t>& value) const {
    const auto rank = static_cast<std::uint32_t>(attribute(node, name, value, 0, kMostRank));
    if (rank != rank_) return rank;
    throw TraceError(place(node), fmt::format("{} is {}, the node's own rank; a message needs two ranks", name, rank));
  }
  void require_own(const EtNode& node, const char* name, const std::optional<std::int64_t>& value) const {
    if (!value || *value == rank_) return;
    throw TraceError(place(node), fmt::format("{} is {}, but the file is that of rank {}", name, *value, rank_));
  }

  std::string file_;
  std::uint32_t rank_;
};

/// Nodes beyond the first `rows` in the order of dependencies and file go.
void cut_to_rows(EtFile& file, std::uint64_t rows) {
  if (rows == 0 || rows >= file.nodes.size()) return;
  std::vector<std::size_t> waits(file.nodes.size());
  std::vector<std::vector<std::uint32_t>> dependents(file.nodes.size());
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < file.nodes.size(); ++i) {
    const EtNode& node = file.nodes[i];
    waits[i] = node.data.size() + node.control.size();
    for (const std::uint32_t d : node.data) dependents[d].push_back(i);
    for (const std::uint32_t d : node.control) dependents[d].push_back(i);
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<std::uint32_t> position(file.nodes.size(), kNoWork);
  std::vector<EtNode> kept;
  for (; !ready.empty() && kept.size() < rows;) {
    const std::uint32_t i = ready.top();
    ready.pop();
    position[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(file.nodes[i]));
    for (std::uint32_t& d : kept.back().data) d = position[d];
    for (std::uint32_t& d : kept.back().control) d = position[d];
    for (const std::uint32_t d : dependents[i]) {
      if (--waits[d] == 0) ready.push(d);
    }
  }
  file.nodes = std::move(kept);
}

/// The first `rows` nodes of a file in whose beginning nothing waits for what comes behind it, as cut_to_rows() would
/// keep them, in memory that does not grow with the file. Nothing where a node waits for one that is further on, or
/// for none: then the whole file says which goes first.
std::optional<EtFile> read_first_rows(const std::string& name, std::uint64_t rows, const ReadProgress& progress) {
  EtFile file{name, {}};
  std::unordered_set<std::uint64_t> ids;
  bool ordered = true;
  for_each_et_node(name, progress, [&](EtNode& node) {
    const auto known = [&](std::uint64_t id) { return ids.contains(id); };
    if (!ordered || file.nodes.size() >= rows) return;
    ordered = std::all_of(node.data_ids.begin(), node.data_ids.end(), known) &&
              std::all_of(node.control_ids.begin(), node.control_ids.end(), known) && ids.insert(node.id).second;
    file.nodes.push_back(std::move(node));
  });
  if (!ordered) return std::nullopt;
  return file;
}

class Translator {
 public:
  explicit Translator(const std::vector<EtFile>& files) : files_(files) {}

  /// One file: that of each of `ranks` ranks where it names no other rank.
  Workload run(std::uint32_t ranks) {
    const bool one_for_all = files_.size() == 1 && !talks(files_.front());
    if (files_.size() == 1 && ranks > 1 && !one_for_all) {
      throw TraceError(files_.front().name,
                       fmt::format("traffic.ranks = {}, but the file sends to or receives from other "
                                   "ranks, so it is that of one rank",
                                   ranks));
    }
    for (std::uint32_t rank = 0; rank < files_.size(); ++rank) add_nodes(rank);
    for (std::uint32_t rank = 0; rank < files_.size(); ++rank) add_dependencies(rank);
    const auto place = [&](const WorkNode& work) {
      return fmt::format("{}: node {}", files_[work.rank].name, work.origin);
    };
    // A file alone that speaks to other ranks is one of several.
    matcher_.match(
        builder_, place,
        files_.size() == 1 ? " (one file is all there is: a folder or a pattern with {rank} names them all)" : "");
    for (auto& [name, members] : members_) {
      // Without a group's name all ranks take part.
      for (std::uint32_t rank = 0; name.empty() && rank < files_.size(); ++rank) members.try_emplace(rank);
      add_collectives(members, one_for_all ? ranks : 0);
    }
    Workload workload = builder_.finish(one_for_all ? ranks : static_cast<std::uint32_t>(files_.size()));
    workload.same_on_all_ranks = one_for_all;
    return workload;
  }

 private:
  struct Member {
    std::uint32_t node = 0;  ///< in the builder
    const EtNode* et = nullptr;
  };
  using Members = std::map<std::uint32_t, std::vector<Member>>;  ///< by rank, in the order of its file

  static bool talks(const EtFile& file) {
    return std::any_of(file.nodes.begin(), file.nodes.end(), [](const EtNode& node) {
      return node.type == pb::COMM_SEND_NODE || node.type == pb::COMM_RECV_NODE;
    });
  }
  void add_nodes(std::uint32_t rank) {
    const NodeReader reader(files_[rank].name, rank);
    first_.push_back(static_cast<std::uint32_t>(builder_.size()));
    for (const EtNode& node : files_[rank].nodes) {
      const WorkNode work = reader.work_of(node);
      const std::uint32_t position = builder_.add(work);
      if (work.kind == WorkKind::send) matcher_.add_send(work, position);
      if (work.kind == WorkKind::receive) matcher_.add_receive(position);
      if (work.kind == WorkKind::collective) members_[node.group][rank].push_back({position, &node});
    }
  }
  void add_dependencies(std::uint32_t rank) {
    for (std::uint32_t i = 0; i < files_[rank].nodes.size(); ++i) {
      const EtNode& node = files_[rank].nodes[i];
      for (const std::uint32_t d : node.data) builder_.depend(first_[rank] + i, first_[rank] + d);
      for (const std::uint32_t d : node.control) builder_.depend(first_[rank] + i, first_[rank] + d);
    }
  }
  /// The k-th collective that a rank has of a group meets the k-th of the others. `ranks`: of one file for all, else 0.
  void add_collectives(const Members& members, std::uint32_t ranks) {
    std::vector<std::uint32_t> group(ranks);
    std::iota(group.begin(), group.end(), 0U);
    if (ranks == 0) {
      for (const auto& [rank, own] : members) group.push_back(rank);
    }
    const std::vector<Member>& first = members.begin()->second;
    const std::uint32_t first_rank = members.begin()->first;
    for (const auto& [rank, own] : members) {
      if (own.size() == first.size()) continue;
      throw TraceError(files_[rank].name,
                       fmt::format("has {} collectives, rank {} has {}", own.size(), first_rank, first.size()));
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      const NodeReader reader(files_[first_rank].name, first_rank);
      Collective collective = reader.collective_of(*first[i].et);
      collective.root = reader.root_of(*first[i].et, group);
      collective.group = builder_.group(group);
      const std::uint32_t position = builder_.collective(collective);
      for (const auto& [rank, own] : members) {
        const NodeReader other(files_[rank].name, rank);
        const Collective same = other.collective_of(*own[i].et);
        if (same.kind != collective.kind || same.bytes != collective.bytes) {
          throw TraceError(other.place(*own[i].et),
                           fmt::format("{} of {} B, rank {} has {} of {} B in its place", to_string(same.kind),
                                       same.bytes, first_rank, to_string(collective.kind), collective.bytes));
        }
        builder_.at(own[i].node).match = position;
      }
    }
  }

  const std::vector<EtFile>& files_;
  WorkloadBuilder builder_;
  MessageMatcher matcher_;
  std::vector<std::uint32_t> first_;  ///< position of each rank's first node
  std::map<std::string, Members> members_;
};

/// Counts a file's nodes without keeping them.
void count(const std::string& name, std::uint32_t rank, TraceTotals& totals, const ReadProgress& progress) {
  const NodeReader reader(name, rank);
  for_each_et_node(name, progress, [&](EtNode& node) {
    const WorkNode work = reader.work_of(node);
    const Collective collective = work.kind == WorkKind::collective ? reader.collective_of(node) : Collective();
    totals.add(work, &collective);
  });
}

}  // namespace

Workload read_chakra(const std::vector<std::string>& names, const ReadOptions& options, Warnings& warnings) {
  const auto file_count = static_cast<std::uint32_t>(names.size());
  if (file_count > 1 && options.ranks != 0 && options.ranks != file_count) {
    throw TraceError(names.front(),
                     fmt::format("traffic.ranks = {}, but there are files of {} ranks", options.ranks, file_count));
  }
  if (file_count > 1 && options.rows != 0) {
    throw TraceError(names.front(), "traffic.rows limits one file that represents all ranks, but there are several");
  }
  const auto part = [&](std::size_t file) -> ReadProgress {
    if (!options.progress) return {};
    return [&, file](double share) {
      options.progress((static_cast<double>(file) + share) / static_cast<double>(file_count));
    };
  };
  if (options.totals != nullptr) {
    for (std::uint32_t rank = 0; rank < file_count; ++rank) count(names[rank], rank, *options.totals, part(rank));
    Workload empty;
    empty.ranks = file_count == 1 && options.ranks != 0 ? options.ranks : file_count;
    return empty;
  }
  std::vector<EtFile> files;
  DroppedDependencies dropped;
  std::uint64_t nodes = 0;
  for (const std::string& name : names) {
    const ReadProgress progress = part(files.size());
    std::optional<EtFile> first_rows;
    if (options.rows != 0) first_rows = read_first_rows(name, options.rows, progress);
    files.push_back(first_rows ? std::move(*first_rows) : read_et_file(name, progress));
    resolve_dependencies(files.back(), dropped);
    cut_to_rows(files.back(), options.rows);
    nodes += files.back().nodes.size();
    check_node_count(name, nodes);
  }
  if (dropped.total() > 0) {
    const std::string text =
        fmt::format("{} control dependencies: {} on absent nodes, {} on the node itself, {} in loops", dropped.total(),
                    dropped.absent, dropped.on_itself, dropped.in_loops);
    if (options.strict) throw TraceError(names.front(), text);
    warnings.push_back(fmt::format("{}: dropped {}", names.front(), text));
  }
  return Translator(files).run(options.ranks == 0 ? 1 : options.ranks);
}

bool looks_like_chakra(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&in);
  pb::GlobalMetadata metadata;
  bool clean_end = false;
  return in && google::protobuf::util::ParseDelimitedFromZeroCopyStream(&metadata, &stream, &clean_end);
}

}  // namespace mrc
