#include "traffic/chakra_reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "chakra.pb.h"
#include "traffic/ring_all_reduce.h"
#include "traffic/trace_error.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

constexpr std::array<const char*, 10> kCollectiveNames{
    "all-reduce", "reduce",         "all-gather",           "gather", "scatter", "broadcast",
    "all-to-all", "reduce-scatter", "reduce-scatter-block", "barrier"};
constexpr std::int64_t kAllReduce = 0;

/// A node of one file, with positions in place of ids.
struct EtNode {
  std::uint64_t id = 0;
  pb::NodeType type = pb::INVALID_NODE;
  std::uint64_t duration_us = 0;
  std::vector<std::uint64_t> data_ids;
  std::vector<std::uint64_t> control_ids;
  std::vector<std::uint32_t> data;
  std::vector<std::uint32_t> control;
  std::optional<std::int64_t> comm_type;
  std::optional<std::uint64_t> comm_size;
  std::optional<std::uint32_t> source;
  std::optional<std::uint32_t> destination;
  std::uint32_t tag = 0;
};

struct EtFile {
  std::string name;
  std::vector<EtNode> nodes;
  std::string place(const EtNode& node) const { return fmt::format("{}: node {}", name, node.id); }
};

struct DroppedDependencies {
  std::uint64_t absent = 0;
  std::uint64_t on_itself = 0;
  std::uint64_t in_loops = 0;
  std::uint64_t total() const { return absent + on_itself + in_loops; }
};

std::optional<std::int64_t> integer_of(const pb::Attribute& attribute) {
  switch (attribute.value_case()) {
    case pb::Attribute::kInt32Value:
      return attribute.int32_value();
    case pb::Attribute::kInt64Value:
      return attribute.int64_value();
    case pb::Attribute::kUint32Value:
      return attribute.uint32_value();
    case pb::Attribute::kUint64Value:
      return static_cast<std::int64_t>(attribute.uint64_value());
    case pb::Attribute::kSint32Value:
      return attribute.sint32_value();
    case pb::Attribute::kSint64Value:
      return attribute.sint64_value();
    case pb::Attribute::kFixed32Value:
      return attribute.fixed32_value();
    case pb::Attribute::kFixed64Value:
      return static_cast<std::int64_t>(attribute.fixed64_value());
    case pb::Attribute::kSfixed32Value:
      return attribute.sfixed32_value();
    case pb::Attribute::kSfixed64Value:
      return attribute.sfixed64_value();
    default:
      return std::nullopt;
  }
}

EtNode to_node(const pb::Node& message) {
  EtNode node;
  node.id = message.id();
  node.type = message.type();
  node.duration_us = message.duration_micros();
  node.data_ids.assign(message.data_deps().begin(), message.data_deps().end());
  node.control_ids.assign(message.ctrl_deps().begin(), message.ctrl_deps().end());
  for (const pb::Attribute& attribute : message.attr()) {
    const auto value = integer_of(attribute);
    if (!value) continue;
    if (attribute.name() == "comm_type") node.comm_type = *value;
    if (attribute.name() == "comm_size" && *value >= 0) node.comm_size = static_cast<std::uint64_t>(*value);
    if (attribute.name() == "comm_src" && *value >= 0) node.source = static_cast<std::uint32_t>(*value);
    if (attribute.name() == "comm_dst" && *value >= 0) node.destination = static_cast<std::uint32_t>(*value);
    if (attribute.name() == "comm_tag") node.tag = static_cast<std::uint32_t>(*value);
  }
  return node;
}

EtFile read_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) throw TraceError(name, "cannot be read");
  google::protobuf::io::IstreamInputStream stream(&in);
  pb::GlobalMetadata metadata;
  bool clean_end = false;
  if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&metadata, &stream, &clean_end)) {
    throw TraceError(name, clean_end ? "is empty; expected a Chakra execution trace"
                                     : "does not begin with a Chakra GlobalMetadata message");
  }
  EtFile file{name, {}};
  pb::Node message;
  for (;;) {
    message.Clear();
    if (google::protobuf::util::ParseDelimitedFromZeroCopyStream(&message, &stream, &clean_end)) {
      file.nodes.push_back(to_node(message));
      continue;
    }
    if (clean_end) break;
    throw TraceError(name, fmt::format("is damaged or cut off at byte {}, after node number {}", stream.ByteCount(),
                                       file.nodes.size()));
  }
  if (file.nodes.empty()) throw TraceError(name, "holds no node");
  return file;
}

void resolve(EtFile& file, DroppedDependencies& dropped) {
  std::unordered_map<std::uint64_t, std::uint32_t> position;
  for (std::uint32_t i = 0; i < file.nodes.size(); ++i) {
    if (!position.emplace(file.nodes[i].id, i).second) throw TraceError(file.place(file.nodes[i]), "is there twice");
  }
  for (std::uint32_t i = 0; i < file.nodes.size(); ++i) {
    EtNode& node = file.nodes[i];
    for (const std::uint64_t id : node.data_ids) {
      const auto it = position.find(id);
      if (it == position.end())
        throw TraceError(file.place(node), fmt::format("data dependency {} is no node of the file", id));
      node.data.push_back(it->second);
    }
    for (const std::uint64_t id : node.control_ids) {
      const auto it = position.find(id);
      if (it == position.end()) {
        ++dropped.absent;
      } else if (it->second == i) {
        ++dropped.on_itself;
      } else {
        node.control.push_back(it->second);
      }
    }
  }
}

/// Orders nodes behind their dependencies. A loop of data dependencies throws; one that holds a control dependency
/// loses it.
class LoopBreaker {
 public:
  LoopBreaker(EtFile& file, DroppedDependencies& dropped) : file_(file), dropped_(dropped) {}

  void run() {
    check_data_loops();
    while (const auto stuck = order(true)) break_loop(*stuck);
  }

 private:
  void check_data_loops() {
    if (const auto stuck = order(false)) {
      throw TraceError(file_.place(file_.nodes[*stuck]), "data dependencies form a loop");
    }
  }
  /// Kahn's algorithm; a node that is left over, if any.
  std::optional<std::uint32_t> order(bool with_control) {
    const auto count = static_cast<std::uint32_t>(file_.nodes.size());
    std::vector<std::uint32_t> waits(count);
    std::vector<std::vector<std::uint32_t>> dependents(count);
    std::deque<std::uint32_t> ready;
    const auto add = [&](std::uint32_t node, std::uint32_t dependency) {
      ++waits[node];
      dependents[dependency].push_back(node);
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const std::uint32_t d : file_.nodes[i].data) add(i, d);
      if (!with_control) continue;
      for (const std::uint32_t d : file_.nodes[i].control) add(i, d);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (waits[i] == 0) ready.push_back(i);
    }
    done_.assign(count, false);
    for (; !ready.empty(); ready.pop_front()) {
      done_[ready.front()] = true;
      for (const std::uint32_t d : dependents[ready.front()]) {
        if (--waits[d] == 0) ready.push_back(d);
      }
    }
    const auto it = std::find(done_.begin(), done_.end(), false);
    if (it == done_.end()) return std::nullopt;
    return loop_member(static_cast<std::uint32_t>(it - done_.begin()));
  }
  std::uint32_t next_in_loop(std::uint32_t node) const {
    for (const auto* list : {&file_.nodes[node].control, &file_.nodes[node].data}) {
      for (const std::uint32_t d : *list) {
        if (!done_[d]) return d;
      }
    }
    return node;
  }
  /// From a node that waits, its unfinished dependencies lead into a loop.
  std::uint32_t loop_member(std::uint32_t node) const {
    std::vector<bool> seen(file_.nodes.size());
    for (; !seen[node]; node = next_in_loop(node)) seen[node] = true;
    return node;
  }
  void break_loop(std::uint32_t start) {
    std::uint32_t node = start;
    do {
      auto& control = file_.nodes[node].control;
      const std::uint32_t next = next_in_loop(node);
      const auto it = std::find(control.begin(), control.end(), next);
      if (it != control.end()) {
        control.erase(it);
        ++dropped_.in_loops;
        return;
      }
      node = next;
    } while (node != start);
  }

  EtFile& file_;
  DroppedDependencies& dropped_;
  std::vector<bool> done_;
};

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
      work.duration = node.duration_us * kPsPerUs;
      const std::uint32_t position = builder_.add(work);
      if (node.type == pb::COMM_SEND_NODE) add_send(rank, node, position);
      if (node.type == pb::COMM_RECV_NODE) add_receive(rank, node, position);
      if (node.type == pb::COMM_COLL_NODE && node.comm_type) add_collective(rank, node, position);
    }
  }
  void require_size(std::uint32_t rank, const EtNode& node) const {
    if (!node.comm_size || *node.comm_size == 0)
      throw TraceError(file(rank).place(node), "communication without comm_size of at least 1");
  }
  void add_send(std::uint32_t rank, const EtNode& node, std::uint32_t position) {
    require_size(rank, node);
    if (!node.destination) throw TraceError(file(rank).place(node), "send without comm_dst");
    if (*node.destination == rank)
      throw TraceError(file(rank).place(node), fmt::format("sends to its own rank {}", rank));
    if (node.source && *node.source != rank) {
      throw TraceError(file(rank).place(node),
                       fmt::format("comm_src is {}, but the file is that of rank {}", *node.source, rank));
    }
    WorkNode& work = builder_.at(position);
    work.kind = WorkKind::send;
    work.bytes = *node.comm_size;
    work.peer = *node.destination;
    work.tag = node.tag;
    work.duration = 0;
    sends_[{rank, work.peer, node.tag}].push_back(position);
  }
  void add_receive(std::uint32_t rank, const EtNode& node, std::uint32_t position) {
    require_size(rank, node);
    if (!node.source) throw TraceError(file(rank).place(node), "receive without comm_src");
    WorkNode& work = builder_.at(position);
    work.kind = WorkKind::receive;
    work.bytes = *node.comm_size;
    work.peer = *node.source;
    work.tag = node.tag;
    work.duration = 0;
    receives_.push_back(position);
  }
  void add_collective(std::uint32_t rank, const EtNode& node, std::uint32_t position) {
    require_size(rank, node);
    const std::int64_t kind = *node.comm_type;
    if (kind != kAllReduce) {
      const bool known = kind >= 0 && static_cast<std::size_t>(kind) < kCollectiveNames.size();
      throw TraceError(file(rank).place(node),
                       fmt::format("collective {} ({}) is not supported; supported: all-reduce", kind,
                                   known ? kCollectiveNames[static_cast<std::size_t>(kind)] : "unknown kind"));
    }
    builder_.at(position).duration = 0;
    collectives_.resize(ranks_);
    collectives_[rank].push_back({position, *node.comm_size, node.id});
  }
  void add_dependencies(std::uint32_t rank) {
    for (std::uint32_t i = 0; i < file(rank).nodes.size(); ++i) {
      const EtNode& node = file(rank).nodes[i];
      for (const std::uint32_t d : node.data) builder_.depend(first_[rank] + i, first_[rank] + d);
      for (const std::uint32_t d : node.control) builder_.depend(first_[rank] + i, first_[rank] + d);
    }
  }
  /// A receive takes the oldest send of its pair and tag that no other has taken.
  void match_receives() {
    for (const std::uint32_t receive : receives_) {
      const WorkNode& work = builder_.at(receive);
      const std::string place = fmt::format("{}: node {}", file(work.rank).name, work.origin);
      auto& queue = sends_[{work.peer, work.rank, work.tag}];
      if (queue.empty()) {
        throw TraceError(
            place, fmt::format("receives from rank {} with tag {}, but no send is left for it", work.peer, work.tag));
      }
      if (builder_.at(queue.front()).bytes != work.bytes) {
        throw TraceError(place,
                         fmt::format("receives {} B from rank {}, whose node {} sends {} B", work.bytes, work.peer,
                                     builder_.at(queue.front()).origin, builder_.at(queue.front()).bytes));
      }
      builder_.match(queue.front(), receive);
      queue.pop_front();
    }
    for (const auto& [key, queue] : sends_) {
      if (queue.empty()) continue;
      const WorkNode& send = builder_.at(queue.front());
      throw TraceError(fmt::format("{}: node {}", file(send.rank).name, send.origin),
                       fmt::format("sends to rank {} with tag {}, but nobody receives it", send.peer, send.tag));
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
    for (std::size_t i = 0; i < collectives_[0].size(); ++i) {
      std::vector<std::uint32_t> at;
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const Collective& own = collectives_[rank][i];
        if (own.bytes != collectives_[0][i].bytes) {
          throw TraceError(
              fmt::format("{}: node {}", file(rank).name, own.id),
              fmt::format("all-reduce of {} B, rank 0 has {} B in its place", own.bytes, collectives_[0][i].bytes));
        }
        at.push_back(own.node);
      }
      add_ring_all_reduce_in_place(builder_, at, collectives_[0][i].bytes);
    }
  }

  struct Collective {
    std::uint32_t node = 0;
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
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
    files.push_back(read_file(name));
    resolve(files.back(), dropped);
    LoopBreaker(files.back(), dropped).run();
  }
  if (dropped.total() > 0) {
    const std::string text =
        fmt::format("{} control dependencies: {} on absent nodes, {} on the node itself, {} in loops", dropped.total(),
                    dropped.absent, dropped.on_itself, dropped.in_loops);
    if (options.strict) throw TraceError(names.front(), text);
    warnings.push_back(fmt::format("{}: dropped {}", names.front(), text));
  }
  const auto file_count = static_cast<std::uint32_t>(files.size());
  if (file_count > 1 && options.ranks > file_count) {
    throw TraceError(names.front(),
                     fmt::format("traffic.ranks = {}, but there are files of {} ranks", options.ranks, file_count));
  }
  const std::uint32_t ranks = options.ranks == 0 ? file_count : options.ranks;
  return Translator(files, ranks).run();
}

bool looks_like_chakra(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&in);
  pb::GlobalMetadata metadata;
  bool clean_end = false;
  return in && google::protobuf::util::ParseDelimitedFromZeroCopyStream(&metadata, &stream, &clean_end);
}

}  // namespace mrc
