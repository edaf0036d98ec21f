// Writes the seed corpus: make_corpus FOLDER, with a folder in it for each fuzzer. Small inputs that reach every
// opcode, every stack of headers and every kind of node.
#include <fmt/format.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

#include "chakra.pb.h"
#include "frame_generator.h"
#include "mrc/wire/packet_codec.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
namespace pb = ::mrcsim::chakra;

void write_file(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

void write_frame(const fs::path& folder, const std::string& name, std::span<const std::byte> bytes) {
  write_file(folder / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void write_frames(const fs::path& folder) {
  wire::FrameGenerator generator(51);
  std::vector<std::byte> bytes;
  for (const Opcode opcode : wire::kOpcodes) {
    for (const Encapsulation encapsulation : wire::kEncapsulations) {
      const bool ipv4 = encapsulation == Encapsulation::srv6_srh;
      wire::encode_frame(generator.frame({opcode, encapsulation, ipv4, !ipv4, 5}), bytes);
      write_frame(folder, fmt::format("{:02x}_{}", static_cast<unsigned>(opcode), static_cast<unsigned>(encapsulation)),
                  bytes);
    }
  }
  for (const std::uint32_t trim_bytes : {114U, 120U, 128U, 200U}) {
    Packet packet = generator.packet(Opcode::write_first, 0);
    packet.damage = Damage::trimmed;
    packet.payload = nullptr;
    wire::encode_packet(packet, {}, trim_bytes, bytes);
    write_frame(folder, fmt::format("trimmed_{}", trim_bytes), bytes);
  }
}

void write_flows(const fs::path& folder) {
  write_file(folder / "flows",
             "start_us,src,dst,bytes,tag\n0,0,1,4096,0\n1.5,1,0,1048576,7\n2e3,5,131071,1,4294967295\n");
  write_file(folder / "crlf", "start_us,src,dst,bytes,tag\r\n0.001,0,1,1099511627776,1\r\n");
  write_file(folder / "same_rank", "start_us,src,dst,bytes,tag\n0,1,1,1,0\n");
  write_file(folder / "too_few_fields", "start_us,src,dst,bytes,tag\n0,1,2\n");
  write_file(folder / "no_header", "0,0,1,4096,0\n");
}

class Trace {
 public:
  Trace() {
    pb::GlobalMetadata metadata;
    metadata.set_version("0.0.4");
    append(metadata);
  }
  pb::Node node(std::uint64_t id, pb::NodeType type, std::uint64_t after) {
    pb::Node out;
    out.set_id(id);
    out.set_type(type);
    out.set_name(fmt::format("node {}", id));
    out.set_duration_micros(id);
    if (after != id) out.add_data_deps(after);
    return out;
  }
  static void attribute(pb::Node& node, const char* name, std::int64_t value) {
    pb::Attribute& attribute = *node.add_attr();
    attribute.set_name(name);
    attribute.set_int64_value(value);
  }
  template <typename Message>
  void append(const Message& message) {
    google::protobuf::util::SerializeDelimitedToOstream(message, &text_);
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

void write_chakra_traces(const fs::path& folder) {
  Trace collectives;
  collectives.append(collectives.node(1, pb::COMP_NODE, 1));
  for (const std::int64_t kind : {0, 5}) {
    const auto id = static_cast<std::uint64_t>(kind) + 2;
    pb::Node node = collectives.node(id, pb::COMM_COLL_NODE, 1);
    node.add_ctrl_deps(id);
    Trace::attribute(node, "comm_type", kind);
    Trace::attribute(node, "comm_size", 4096);
    collectives.append(node);
  }
  write_file(folder / "collectives", collectives.text());
  write_file(folder / "cut_off", std::string_view(collectives.text()).substr(0, 60));

  Trace messages;
  pb::Node send = messages.node(3, pb::COMM_SEND_NODE, 3);
  pb::Node receive = messages.node(4, pb::COMM_RECV_NODE, 3);
  for (pb::Node* node : {&send, &receive}) {
    Trace::attribute(*node, "comm_size", 100);
    Trace::attribute(*node, "comm_tag", 1);
    Trace::attribute(*node, node == &send ? "comm_dst" : "comm_src", 1);
    messages.append(*node);
  }
  write_file(folder / "messages", messages.text());
}

void write_scenarios(const fs::path& folder) {
  using namespace std::string_view_literals;
  write_file(folder / "plain", "seed = 1\n[fabric]\nnics = 2\nloss_rate = 0.01\n[nic]\nports = 8\nport_gbps = 100\n");
  write_file(folder / "set", "seed = 1\0fabric.trim_rate=0.5\0protocol.encapsulation=none\0node.nic1.nic.ports=4"sv);
  write_file(folder / "fault", "[[fault]]\nat_us = 10\n");
  write_file(folder / "node", "[node.nic1.nic]\nports = 4\n[protocol.dscp]\ntrimmed = 12\n");
  write_file(folder / "wrong_type", "seed = \"x\"\n[nic]\nports = [1, 2]\n");
}

}  // namespace
}  // namespace mrc

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  mrc::write_frames(folder / "decode_frame");
  mrc::write_flows(folder / "flow_csv");
  mrc::write_chakra_traces(folder / "chakra");
  mrc::write_scenarios(folder / "scenario");
}
