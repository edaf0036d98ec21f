#include "traffic/chakra_reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "chakra.pb.h"
#include "traffic/broadcast.h"
#include "traffic/et_dependencies.h"
#include "traffic/et_file.h"
#include "traffic/ring_all_reduce.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

constexpr std::array<const char*, 10> kCollectiveNames{
    "all-reduce", "reduce",         "all-gather",           "gather", "scatter", "broadcast",
    "all-to-all", "reduce-scatter", "reduce-scatter-block", "barrier"};
constexpr std::int64_t kAllReduce = 0;
constexpr std::int64_t kBroadcast = 5;

std::string kind_name(std::int64_t kind) {
  const bool known = kind >= 0 && static_cast<std::size_t>(kind) < kCollectiveNames.size();
  return known ? kCollectiveNames[static_cast<std::size_t>(kind)] : fmt::format("of unknown kind {}", kind);
}

bool is_collective(const EtNode& node) {
  return node.type == pb::COMM_COLL_NODE && node.comm_type.has_value();
}

/// Metadata and memory nodes take no time; a node of no type is work that a tool left unnamed.
bool takes_time(const EtNode& node) {
  return node.type == pb::COMP_NODE || node.type == pb::COMM_COLL_NODE || node.type == pb::INVALID_NODE;
}

class Translator {
 public:
  Translator(const std::vector<EtFile>& files, std::uint32_t ranks) : files_(files), ranks_(ranks) {}

  Workload run() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) add_nodes(rank);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) add_dependencies(rank);
    match_receives();
    expand_collectives();
    return builder_.finish(ranks_);
  }

 private:
  const EtFile& file(std::uint32_t rank) const { return files_[files_.size() == 1 ? 0 : rank]; }

  void add_nodes(std::uint32_t rank) {
    first_.push_back(builder_.size());
    for (const EtNode& node : file(rank).nodes) {
      WorkNode work;
      work.rank = rank;
      work.origin = node.id;
      if (node.type == pb::COMM_SEND_NODE) {
        add_send(node, work);
      } else if (node.type == pb::COMM_RECV_NODE) {
        add_receive(node, work);
      } else if (is_collective(node)) {
        add_collective(node, work);
      } else {
        work.duration = takes_time(node) ? duration(node, work) : 0;
        builder_.add(work);
      }
    }
  }
  std::string place(const WorkNode& work) const {
    return fmt::format("{}: node {}", file(work.rank).name, work.origin);
  }
  TimePs duration(const EtNode& node, const WorkNode& work) const {
    if (node.duration_us <= kMostTraceTimeUs) return node.duration_us * kPsPerUs;
    throw TraceError(place(work),
                     fmt::format("duration_micros is {}; allowed: 0 … {}", node.duration_us, kMostTraceTimeUs));
  }
  std::int64_t attribute(const WorkNode& work, const char* name, const std::optional<std::int64_t>& value,
                         std::int64_t minimum, std::int64_t maximum) const {
    if (value && *value >= minimum && *value <= maximum) return *value;
    throw TraceError(place(work), fmt::format("{} is {}; allowed: an integer {} … {}", name,
                                              value ? std::to_string(*value) : "absent", minimum, maximum));
  }
  std::uint64_t size(const EtNode& node, const WorkNode& work) const {
    return static_cast<std::uint64_t>(attribute(work, "comm_size", node.comm_size, 1, kMostMessageBytes));
  }
  std::uint32_t tag(const EtNode& node, const WorkNode& work) const {
    return static_cast<std::uint32_t>(
        attribute(work, "comm_tag", node.comm_tag.value_or(0), std::numeric_limits<std::int32_t>::min(), 0xFFFF'FFFF));
  }
  std::uint32_t peer(const WorkNode& work, const char* name, const std::optional<std::int64_t>& value) const {
    const auto rank = static_cast<std::uint32_t>(attribute(work, name, value, 0, kMostRank));
    if (rank != work.rank) return rank;
    throw TraceError(place(work), fmt::format("{} is {}, the node's own rank; a message needs two ranks", name, rank));
  }
  void require_own(const WorkNode& work, const char* name, const std::optional<std::int64_t>& value) const {
    if (!value || *value == work.rank) return;
    throw TraceError(place(work), fmt::format("{} is {}, but the file is that of rank {}", name, *value, work.rank));
  }
  void add_send(const EtNode& node, WorkNode work) {
    require_own(work, "comm_src", node.comm_src);
    work.kind = WorkKind::send;
    work.bytes = size(node, work);
    work.peer = peer(work, "comm_dst", node.comm_dst);
    work.tag = tag(node, work);
    sends_[{work.rank, work.peer, work.tag}].push_back(builder_.add(work));
  }
  void add_receive(const EtNode& node, WorkNode work) {
    require_own(work, "comm_dst", node.comm_dst);
    work.kind = WorkKind::receive;
    work.bytes = size(node, work);
    work.peer = peer(work, "comm_src", node.comm_src);
    work.tag = tag(node, work);
    receives_.push_back(builder_.add(work));
  }
  void add_collective(const EtNode& node, const WorkNode& work) {
    const std::int64_t kind = *node.comm_type;
    if (kind != kAllReduce && kind != kBroadcast) {
      throw TraceError(place(work), fmt::format("not supported yet: collective {} (comm_type {}); supported: {}, {}",
                                                kind_name(kind), kind, kind_name(kAllReduce), kind_name(kBroadcast)));
    }
    const std::uint64_t bytes = size(node, work);
    collectives_.resize(ranks_);
    collectives_[work.rank].push_back({builder_.add(work), kind, bytes});
  }
  void add_dependencies(std::uint32_t rank) {
    for (std::uint32_t i = 0; i < file(rank).nodes.size(); ++i) {
      const EtNode& node = file(rank).nodes[i];
      for (const std::uint32_t d : node.data) builder_.depend(first_[rank] + i, first_[rank] + d);
      for (const std::uint32_t d : node.control) builder_.depend(first_[rank] + i, first_[rank] + d);
    }
  }
  /// A file alone that speaks to other ranks is one of several.
  const char* hint() const {
    return files_.size() == 1 ? " (one file is all there is: a folder or a pattern with {rank} names them all)" : "";
  }
  /// A receive takes the oldest send of its pair and tag that no other has taken.
  void match_receives() {
    for (const std::uint32_t receive : receives_) {
      const WorkNode& work = builder_.at(receive);
      auto& queue = sends_[{work.peer, work.rank, work.tag}];
      if (queue.empty()) {
        throw TraceError(place(work), fmt::format("receives from rank {} with tag {}, but no send is left for it{}",
                                                  work.peer, work.tag, hint()));
      }
      const WorkNode& send = builder_.at(queue.front());
      if (send.bytes != work.bytes) {
        throw TraceError(place(work), fmt::format("receives {} B from rank {}, whose node {} sends {} B", work.bytes,
                                                  work.peer, send.origin, send.bytes));
      }
      builder_.match(queue.front(), receive);
      queue.pop_front();
    }
    for (const auto& [key, queue] : sends_) {
      if (queue.empty()) continue;
      const WorkNode& send = builder_.at(queue.front());
      throw TraceError(place(send), fmt::format("sends to rank {} with tag {}, but nobody receives it{}", send.peer,
                                                send.tag, hint()));
    }
  }
  void expand_collectives() {
    if (collectives_.empty()) return;
    if (ranks_ < 2) {
      throw TraceError(files_.front().name,
                       "holds collectives of one rank; traffic.ranks says over how many ranks they run");
    }
    for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
      if (collectives_[rank].size() != collectives_[0].size()) {
        throw TraceError(file(rank).name, fmt::format("has {} collectives, rank 0 has {}", collectives_[rank].size(),
                                                      collectives_[0].size()));
      }
    }
    check_node_count(files_.front().name, builder_.size() + collectives_[0].size() * ring_all_reduce_nodes(ranks_, 1));
    for (std::size_t i = 0; i < collectives_[0].size(); ++i) expand(i);
  }
  void expand(std::size_t number) {
    const Collective& first = collectives_[0][number];
    std::vector<std::uint32_t> at;
    for (const std::vector<Collective>& of_rank : collectives_) {
      const Collective& own = of_rank[number];
      if (own.kind != first.kind || own.bytes != first.bytes) {
        throw TraceError(place(builder_.at(own.node)),
                         fmt::format("{} of {} B, rank 0 has {} of {} B in its place", kind_name(own.kind), own.bytes,
                                     kind_name(first.kind), first.bytes));
      }
      at.push_back(own.node);
    }
    if (first.kind == kBroadcast) {
      add_broadcast_in_place(builder_, at, first.bytes);
    } else {
      add_ring_all_reduce_in_place(builder_, at, first.bytes);
    }
  }

  struct Collective {
    std::uint32_t node = 0;
    std::int64_t kind = 0;
    std::uint64_t bytes = 0;
  };

  const std::vector<EtFile>& files_;
  std::uint32_t ranks_;
  WorkloadBuilder builder_;
  std::vector<std::uint32_t> first_;  ///< position of each rank's first node
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<std::uint32_t>> sends_;
  std::vector<std::uint32_t> receives_;
  std::vector<std::vector<Collective>> collectives_;
};

}  // namespace

Workload read_chakra(const std::vector<std::string>& names, const ChakraOptions& options,
                     std::vector<std::string>& warnings) {
  std::vector<EtFile> files;
  DroppedDependencies dropped;
  for (const std::string& name : names) {
    files.push_back(read_et_file(name));
    resolve_dependencies(files.back(), dropped);
  }
  if (dropped.total() > 0) {
    const std::string text =
        fmt::format("{} control dependencies: {} on absent nodes, {} on the node itself, {} in loops", dropped.total(),
                    dropped.absent, dropped.on_itself, dropped.in_loops);
    if (options.strict) throw TraceError(names.front(), text);
    warnings.push_back(fmt::format("{}: dropped {}", names.front(), text));
  }
  const auto file_count = static_cast<std::uint32_t>(files.size());
  if (file_count > 1 && options.ranks != 0 && options.ranks != file_count) {
    throw TraceError(names.front(),
                     fmt::format("traffic.ranks = {}, but there are files of {} ranks", options.ranks, file_count));
  }
  const std::uint32_t ranks = options.ranks == 0 ? file_count : options.ranks;
  check_node_count(names.front(), ranks * static_cast<std::uint64_t>(files.front().nodes.size()));
  return Translator(files, ranks).run();
}

ChakraContents chakra_contents(const std::vector<std::string>& names) {
  ChakraContents contents;
  for (const std::string& name : names) {
    const EtFile file = read_et_file(name);
    contents.nodes += file.nodes.size();
    for (const EtNode& node : file.nodes) {
      if (!is_collective(node)) continue;
      CollectiveTotal& total = contents.collectives[kind_name(*node.comm_type)];
      ++total.count;
      total.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(0, node.comm_size.value_or(0)));
    }
  }
  return contents;
}

bool looks_like_chakra(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&in);
  pb::GlobalMetadata metadata;
  bool clean_end = false;
  return in && google::protobuf::util::ParseDelimitedFromZeroCopyStream(&metadata, &stream, &clean_end);
}

}  // namespace mrc
