#include "traffic/et_file.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "traffic/trace_error.h"
#include "traffic/watched_file.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

/// Values beyond 63 bits become the largest, which no range allows.
std::int64_t clamped(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

std::optional<std::int64_t> integer_of(const pb::Attribute& attribute) {
  switch (attribute.value_case()) {
    case pb::Attribute::kInt32Value:
      return attribute.int32_value();
    case pb::Attribute::kInt64Value:
      return attribute.int64_value();
    case pb::Attribute::kUint32Value:
      return attribute.uint32_value();
    case pb::Attribute::kUint64Value:
      return clamped(attribute.uint64_value());
    case pb::Attribute::kSint32Value:
      return attribute.sint32_value();
    case pb::Attribute::kSint64Value:
      return attribute.sint64_value();
    case pb::Attribute::kFixed32Value:
      return attribute.fixed32_value();
    case pb::Attribute::kFixed64Value:
      return clamped(attribute.fixed64_value());
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
    if (attribute.name() == "comm_type") node.comm_type = value;
    if (attribute.name() == "comm_size") node.comm_size = value;
    if (attribute.name() == "comm_src") node.comm_src = value;
    if (attribute.name() == "comm_dst") node.comm_dst = value;
    if (attribute.name() == "comm_tag") node.comm_tag = value;
    if (attribute.name() == "comm_priority") node.comm_priority = value;
    if (attribute.name() == "is_cpu_op") node.on_cpu = attribute.bool_value() || value.value_or(0) != 0;
    if (attribute.name() == "root_rank") node.comm_root = value;
    if (attribute.name() == "pg_name" && attribute.has_string_value()) node.group = attribute.string_value();
  }
  return node;
}

/// Bytes that happen to parse: a real node says at least one of these.
bool says_anything(const pb::Node& message) {
  return message.id() != 0 || message.type() != pb::INVALID_NODE || !message.name().empty() || message.attr_size() > 0;
}

/// The library takes a length that is not a varint for the end of the file, and gives its bytes back.
bool is_at_end(google::protobuf::io::ZeroCopyInputStream& stream) {
  const void* bytes = nullptr;
  int count = 0;
  while (stream.Next(&bytes, &count)) {
    if (count > 0) return false;
  }
  return true;
}

}  // namespace

void for_each_et_node(const std::string& name, const ReadProgress& progress, const std::function<void(EtNode&)>& take) {
  WatchedFile in(name, progress);
  if (!in) throw TraceError(name, "cannot be read");
  google::protobuf::io::IstreamInputStream stream(&in);
  pb::GlobalMetadata metadata;
  bool clean_end = false;
  if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&metadata, &stream, &clean_end)) {
    throw TraceError(name, clean_end ? "is empty; expected a Chakra execution trace"
                                     : "does not begin with a Chakra GlobalMetadata message");
  }
  std::uint64_t nodes = 0;
  pb::Node message;
  while (google::protobuf::util::ParseDelimitedFromZeroCopyStream(&message, &stream, &clean_end)) {
    ++nodes;
    if (!says_anything(message))
      throw TraceError(name, fmt::format("is damaged: node number {} has no id, type, name or attribute", nodes));
    EtNode node = to_node(message);
    take(node);
    message.Clear();
  }
  if (!clean_end || !is_at_end(stream)) {
    throw TraceError(name,
                     fmt::format("is damaged or cut off in node number {}; expected a whole Chakra node", nodes + 1));
  }
  if (nodes == 0) throw TraceError(name, "holds no node");
}

EtFile read_et_file(const std::string& name, const ReadProgress& progress) {
  EtFile file{name, {}};
  for_each_et_node(name, progress, [&](EtNode& node) { file.nodes.push_back(std::move(node)); });
  return file;
}

}  // namespace mrc
