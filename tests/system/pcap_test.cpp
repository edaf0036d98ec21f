// Captures: the pcapng file itself, and what tshark with docs/wireshark/mrc.lua reads in it, field by field.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "frame_generator.h"
#include "hex.h"
#include "mrc/wire/packet_codec.h"
#include "mrcsim_process.h"
#include "parameters/scenario.h"
#include "pcapng_file.h"
#include "results/output_directory.h"
#include "results/pcapng_writer.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
using wire::Frame;

/// Values of a field by its name; a field of two IPv6 headers has two, the outer one first.
using Row = std::map<std::string, std::string>;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Pcapng, HoldsInterfacesAndPacketsInOrderOfTime) {
  const fs::path path = test_folder() / "order.pcapng";
  fs::remove(path);
  PcapngWriter writer(path.string());
  EXPECT_EQ(writer.add_interface("nic0.port0"), 0U);
  EXPECT_EQ(writer.add_interface("nic0.port3"), 1U);
  writer.write(1, 5'999, bytes_of("five"));
  writer.write(0, 2'000, bytes_of("two"));
  writer.write(1, 7'000, bytes_of("seven of port3"));
  writer.write(0, 7'000, bytes_of("seven of port0"), 100);
  writer.write(0, 7'000, bytes_of("seven, second"));
  writer.flush_before(6'000);
  EXPECT_THROW(writer.write(0, 5'999, bytes_of("late")), std::invalid_argument);
  EXPECT_THROW(writer.write(2, 6'000, bytes_of("nowhere")), std::invalid_argument);
  const std::uint64_t beyond_32_bits_ps = 10'000'000'000'001'000;
  writer.write(1, beyond_32_bits_ps, {});
  writer.write(0, 6'000, bytes_of("six"));
  EXPECT_FALSE(fs::exists(path));
  writer.close();

  const PcapngFile file = read_pcapng(path);
  EXPECT_EQ(file.interfaces, (std::vector<std::string>{"nic0.port0", "nic0.port3"}));
  std::vector<std::string> seen;
  for (const auto& packet : file.packets) {
    seen.push_back(
        fmt::format("{} {} {} {}", packet.time_ns, packet.interface, packet.sent_bytes,
                    std::string_view(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size())));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"2 0 3 two", "5 1 4 five", "6 0 3 six", "7 0 100 seven of port0",
                                            "7 0 13 seven, second", "7 1 14 seven of port3", "10000000000001 1 0 "}));
}

TEST(Pcapng, OrderOfWritingDoesNotCount) {
  std::string files[2];
  for (const bool reversed : {false, true}) {
    const fs::path path = test_folder() / (reversed ? "b" : "a");
    PcapngWriter writer(path.string());
    for (int port = 0; port < 8; ++port) writer.add_interface(fmt::format("nic0.port{}", port));
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t k = reversed ? 63 - i : i;
      writer.write(k % 8, 1'000 * (k / 16), bytes_of(fmt::format("{}", k % 8)));
    }
    writer.close();
    files[reversed ? 1 : 0] = read_text(path);
  }
  EXPECT_EQ(files[0], files[1]);
}

TEST(Pcapng, NothingIsLeftWithoutClose) {
  const fs::path folder = test_folder() / "unclosed";
  fs::create_directories(folder);
  {
    PcapngWriter writer((folder / "file").string());
    writer.add_interface("nic0.port0");
    EXPECT_FALSE(fs::is_empty(folder));
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(Pcapng, WriteErrorsAreOutputErrors) {
  EXPECT_THROW(PcapngWriter((test_folder() / "absent" / "file").string()), OutputError);
  const fs::path folder = test_folder() / "a_folder";
  fs::create_directories(folder / "not_empty");
  EXPECT_THROW(PcapngWriter(folder.string()), OutputError);
}

class Tshark : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(MRCSIM_TSHARK).empty()) GTEST_SKIP() << "tshark is missing (Debian: tshark)";
  }

  /// One row per packet with its values of the named fields.
  static std::vector<Row> read(const fs::path& pcapng, const std::set<std::string>& names,
                               const std::string& options = "") {
    std::string command = std::string(MRCSIM_TSHARK) +
                          " -r - -X lua_script:docs/wireshark/mrc.lua -T fields -E occurrence=a -E aggregator=," +
                          options;
    for (const std::string& name : names) command += " -e " + name;
    command += " <'" + pcapng.string() + "'";
    ProcessResult result = run_process(command);
    // Wireshark 4.4 loads no Lua for root.
    if (result.exit_code != 0 && geteuid() == 0) {
      result = run_process("setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent " + command);
    }
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err.find("Lua"), std::string::npos) << result.err;
    std::vector<Row> rows;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) rows.push_back(split(line, names));
    return rows;
  }

 private:
  static Row split(const std::string& line, const std::set<std::string>& names) {
    Row row;
    std::size_t at = 0;
    for (const std::string& name : names) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      if (end > at) row[name] = plain_numbers(line.substr(at, end - at));
      at = end + 1;
    }
    return row;
  }
  /// tshark shows a number as the field's base says: hexadecimal ones become decimal. Flags are "True" or, before
  /// Wireshark 4.4, "1".
  static std::string plain_number(const std::string& value) {
    if (value == "True") return "1";
    if (value == "False") return "0";
    return value.starts_with("0x") ? std::to_string(std::stoull(value, nullptr, 16)) : value;
  }
  static std::string plain_numbers(const std::string& values) {
    std::string out;
    std::istringstream stream(values);
    for (std::string value; std::getline(stream, value, ',');) {
      if (!out.empty()) out += ",";
      out += plain_number(value);
    }
    return out;
  }
};

/// As tshark prints bytes.
std::string lower_hex(std::span<const std::byte> bytes) {
  std::string text = wire::to_hex(bytes);
  for (char& digit : text) digit = static_cast<char>(std::tolower(digit));
  return text;
}

std::string mac_text(std::uint64_t bits) {
  std::string text;
  for (int shift = 40; shift >= 0; shift -= 8)
    text += fmt::format("{}{:02x}", shift == 40 ? "" : ":", bits >> shift & 0xFF);
  return text;
}

std::string address_text(const Ipv6Address& address) {
  in6_addr bytes{};
  for (int i = 0; i < 8; ++i) {
    bytes.s6_addr[i] = static_cast<std::uint8_t>(address.high >> (56 - 8 * i));
    bytes.s6_addr[8 + i] = static_cast<std::uint8_t>(address.low >> (56 - 8 * i));
  }
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, &bytes, text, sizeof text);
}

std::string address_text(std::uint32_t v4) {
  return fmt::format("{}.{}.{}.{}", v4 >> 24, v4 >> 16 & 0xFF, v4 >> 8 & 0xFF, v4 & 0xFF);
}

void add(Row& row, const std::string& name, const std::string& value) {
  std::string& values = row[name];
  values += values.empty() ? value : "," + value;
}

template <typename Number>
void add_number(Row& row, const std::string& name, Number value) {
  add(row, name, std::to_string(std::uint64_t{value}));
}

void add_ipv6(Row& row, const wire::Ipv6Header& header) {
  add_number(row, "ipv6.tclass.dscp", header.dscp);
  add_number(row, "ipv6.tclass.ecn", header.ecn);
  add_number(row, "ipv6.flow", header.flow_label);
  add_number(row, "ipv6.plen", header.payload_length);
  add_number(row, "ipv6.nxt", header.next_header);
  add_number(row, "ipv6.hlim", header.hop_limit);
  add(row, "ipv6.src", address_text(header.src));
  add(row, "ipv6.dst", address_text(header.dst));
}

void add_ipv4(Row& row, const wire::Ipv4Header& header) {
  add_number(row, "ip.dsfield.dscp", header.dscp);
  add_number(row, "ip.dsfield.ecn", header.ecn);
  add_number(row, "ip.len", header.total_length);
  add_number(row, "ip.id", header.identification);
  add_number(row, "ip.ttl", header.ttl);
  add_number(row, "ip.proto", header.protocol);
  add_number(row, "ip.checksum", header.checksum);
  add(row, "ip.src", address_text(header.src));
  add(row, "ip.dst", address_text(header.dst));
}

void add_srh(Row& row, const wire::SegmentRoutingHeader& header) {
  add_number(row, "ipv6.routing.nxt", header.next_header);
  add_number(row, "ipv6.routing.len", header.length_8_bytes);
  add_number(row, "ipv6.routing.type", header.routing_type);
  add_number(row, "ipv6.routing.segleft", header.segments_left);
  add_number(row, "ipv6.routing.srh.last_entry", header.last_entry);
  add_number(row, "ipv6.routing.srh.flags", header.flags);
  add(row, "ipv6.routing.srh.tag", fmt::format("{:04x}", header.tag));
  add(row, "ipv6.routing.srh.addr", address_text(header.segment));
}

/// What tshark should show of a frame.
Row row_of(const Frame& frame) {
  Row row;
  add(row, "eth.dst", mac_text(frame.ethernet.dst));
  add(row, "eth.src", mac_text(frame.ethernet.src));
  add_number(row, "eth.type", frame.ethernet.ethertype);
  if (frame.outer) add_ipv6(row, *frame.outer);
  if (frame.srh) add_srh(row, *frame.srh);
  if (frame.ipv4) {
    add_ipv4(row, *frame.ipv4);
  } else {
    add_ipv6(row, frame.ipv6);
  }
  add_number(row, "udp.srcport", frame.udp.src_port);
  add_number(row, "udp.dstport", frame.udp.dst_port);
  add_number(row, "udp.length", frame.udp.length);
  add_number(row, "udp.checksum", frame.udp.checksum);
  for (const auto& [name, value] : wire::mrc_fields(frame)) add_number(row, name, value);
  if (frame.trimmed) add(row, "mrc.trimmed", "1");
  if (!frame.payload.empty()) add(row, frame.trimmed ? "mrc.remainder" : "mrc.payload", lower_hex(frame.payload));
  if (frame.trimmed) return row;
  if (frame.bth.pad > 0) add(row, "mrc.pad", lower_hex(std::span(frame.pad).first(frame.bth.pad)));
  add_number(row, "mrc.icrc", *frame.icrc);
  return row;
}

constexpr const char* kMalformed = "_ws.malformed";
constexpr const char* kExpertSeverity = "_ws.expert.severity";
/// Random ports, addresses and hop limits draw remarks up to this severity; lengths that do not fit are warnings.
constexpr std::uint64_t kNote = 0x40'0000;

std::uint64_t worst(const std::string& severities) {
  std::uint64_t worst_of_all = 0;
  std::istringstream stream(severities);
  for (std::string value; std::getline(stream, value, ',');)
    worst_of_all = std::max<std::uint64_t>(worst_of_all, std::stoull(value));
  return worst_of_all;
}

void expect_rows(std::vector<Row> actual, const std::vector<Row>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_LE(worst(actual[i][kExpertSeverity]), kNote) << "frame " << i + 1;
    actual[i].erase(kExpertSeverity);
    ASSERT_EQ(actual[i], expected[i]) << "frame " << i + 1;
  }
}

std::set<std::string> names_of(const std::vector<Row>& rows) {
  std::set<std::string> names{kMalformed, kExpertSeverity};
  for (const Row& row : rows) {
    for (const auto& [name, value] : row) names.insert(name);
  }
  return names;
}

Row decoded_row(std::span<const std::byte> bytes, const ProtocolConfig& config) {
  Frame frame;
  const auto error = wire::decode_frame(bytes, wire::decode_options(config), frame);
  EXPECT_FALSE(error) << error->header << " " << error->field << " " << error->reason;
  return row_of(frame);
}

TEST_F(Tshark, ShowsEveryFieldOfEveryOpcode) {
  const fs::path path = test_folder() / "opcodes.pcapng";
  PcapngWriter writer(path.string());
  writer.add_interface("nic0.port0");
  wire::FrameGenerator generator(41);
  std::vector<std::byte> bytes;
  std::vector<Row> expected;
  for (int round = 0; round < 60; ++round) {
    for (const Opcode opcode : wire::kOpcodes) {
      wire::encode_frame(generator.frame(generator.shape(opcode, 64)), bytes);
      writer.write(0, expected.size() * 1'000, bytes);
      expected.push_back(decoded_row(bytes, {}));
    }
  }
  writer.close();
  const auto names = names_of(expected);
  EXPECT_GT(names.size(), 120U);
  expect_rows(read(path, names), expected);
}

TEST_F(Tshark, ShowsWhatTrimmingLeft) {
  const fs::path path = test_folder() / "trimmed.pcapng";
  PcapngWriter writer(path.string());
  writer.add_interface("nic0.port0");
  wire::FrameGenerator generator(42);
  ProtocolConfig config;
  std::vector<std::byte> bytes;
  std::vector<Row> expected;
  for (const Encapsulation encapsulation : wire::kEncapsulations) {
    config.encapsulation = encapsulation;
    const std::uint32_t bth_end = 14 + encapsulation_bytes(encapsulation) + 40 + 8 + 12;
    for (std::uint32_t trim_bytes = bth_end; trim_bytes <= 256; ++trim_bytes) {
      Packet packet = generator.packet(wire::kWriteOpcodes[trim_bytes % 6], 0);
      packet.damage = Damage::trimmed;
      packet.payload = nullptr;
      packet.dma_length = 4096;
      packet.trimmed_at_last_hop = trim_bytes % 2 == 1;
      const std::size_t sent_bytes = wire::encode_packet(packet, config, trim_bytes, bytes);
      ASSERT_EQ(bytes.size(), trim_bytes);
      writer.write(0, expected.size() * 1'000, bytes, sent_bytes);
      expected.push_back(decoded_row(bytes, config));
      EXPECT_EQ(expected.back()["mrc.trimmed"], "1");
    }
  }
  writer.close();
  expect_rows(read(path, names_of(expected)), expected);
}

/// The source port carries entropy: whoever owns that port elsewhere must not take the packet.
TEST_F(Tshark, GivesAnySourcePortToMrc) {
  const fs::path path = test_folder() / "ports.pcapng";
  PcapngWriter writer(path.string());
  writer.add_interface("nic0.port0");
  wire::FrameGenerator generator(43);
  std::vector<std::byte> bytes;
  constexpr std::uint32_t ports = 16'384;
  for (std::uint32_t port = 0; port < ports; ++port) {
    Frame frame = generator.frame({.opcode = wire::kOpcodes[port % 12], .encapsulation = Encapsulation::none});
    frame.udp.src_port = static_cast<std::uint16_t>(port);
    wire::complete(frame);
    wire::encode_frame(frame, bytes);
    writer.write(0, port * 1'000, bytes);
  }
  writer.close();
  const auto rows = read(path, {"mrc.bth.opcode", "udp.srcport", kMalformed});
  ASSERT_EQ(rows.size(), ports);
  for (std::uint32_t port = 0; port < ports; ++port) {
    const auto opcode = static_cast<unsigned>(wire::kOpcodes[port % 12]);
    ASSERT_EQ(rows[port], (Row{{"mrc.bth.opcode", std::to_string(opcode)}, {"udp.srcport", std::to_string(port)}}));
  }
}

/// Runs with loss and trimming, by encapsulation.
class Capture : public Tshark, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Run, Capture, ::testing::Values("none", "srv6", "srv6_srh"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(Capture, EveryFrameIsSeenAlike) {
  const ProcessResult result = run_process(
      fmt::format("mrcsim run tb/scenarios/pair.toml --set traffic.byte_scale=0.01 --set fabric.loss_rate=0.01"
                  " --set fabric.trim_rate=0.01 --set fabric.trim_bytes=144 --set protocol.encapsulation={} --out "
                  "%D/out --pcap %D/run.pcapng",
                  GetParam()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const fs::path path = test_folder() / "run.pcapng";
  const PcapngFile file = read_pcapng(path);
  const ProtocolConfig config = load_scenario(MRCSIM_SOURCE_DIR "/tb/scenarios/pair.toml", {}).protocol;
  std::map<std::string, std::uint64_t> count;
  std::vector<Row> expected;
  std::uint64_t last_ns = 0;
  for (const auto& packet : file.packets) {
    EXPECT_GE(packet.time_ns, last_ns);
    last_ns = packet.time_ns;
    Frame frame;
    const auto error = wire::decode_frame(packet.bytes, wire::decode_options(config), frame);
    ASSERT_FALSE(error) << error->header << " " << error->field << " " << error->reason;
    if (!frame.trimmed) {
      ASSERT_EQ(frame.icrc, frame.icrc_expected);
    }
    // A trimmed frame tells how long it was: its own lengths count from the outermost header on.
    const wire::Ipv6Header& outermost = frame.outer ? *frame.outer : frame.ipv6;
    ASSERT_EQ(packet.sent_bytes, 14U + 40U + outermost.payload_length);
    const bool full_payload = frame.bth.opcode == 0xC6 || frame.bth.opcode == 0xC7;
    if (full_payload) {
      ASSERT_GT(frame.udp.length, config.mtu_bytes);
    }
    ++count[frame.trimmed ? "trimmed" : fmt::format("{:02X}", frame.bth.opcode)];
    count["retransmissions"] += frame.bth.rtx;
    expected.push_back(row_of(frame));
    expected.back().erase("mrc.payload");
  }
  const nlohmann::json packets = read_json(test_folder() / "out" / "result.json")["packets"];
  EXPECT_EQ(file.interfaces.front(), "nic0.port0");
  for (const char* kind : {"C7", "D1", "DC", "DD", "trimmed", "retransmissions"}) EXPECT_GT(count[kind], 0U) << kind;
  EXPECT_LE(count["trimmed"], packets["trimmed"].get<std::uint64_t>());
  expect_rows(read(path, names_of(expected)), expected);
}

TEST_F(Tshark, DecryptsEspAndFindsTagsRight) {
  const ProcessResult run = run_process(
      "mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --pcap %D/esp.pcapng --set traffic.rows=1 "
      "traffic.byte_scale=0.1 protocol.encryption.framing=esp fabric.trim_bytes=192 fabric.corrupt_rate=0.02");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // The key is the SPI four times, the salt the SPI: docs/encryption.md.
  const std::string spi = "00000010";
  const std::string association = fmt::format(
      " -o esp.enable_encryption_decode:TRUE -o esp.enable_authentication_check:TRUE -o 'uat:esp_sa:\"IPv6\","
      "\"*\",\"*\",\"0x{0}\",\"AES-GCM with 16 octet ICV [RFC4106]\",\"0x{0}{0}{0}{0}{0}\",\"NULL\",\"\"'",
      spi);
  const std::vector<Row> rows =
      read(test_folder() / "esp.pcapng", {"esp.spi", "esp.icv_good", "esp.icv_bad", "mrc.bth.psn"}, association);
  std::size_t good = 0;
  std::size_t bad = 0;
  for (const Row& row : rows) {
    if (row.at("esp.spi") != std::to_string(std::stoul(spi, nullptr, 16))) continue;
    const bool is_good = row.at("esp.icv_good") == "1";
    (is_good ? good : bad) += 1;
    EXPECT_GE(row.contains("mrc.bth.psn"), is_good);
  }
  EXPECT_GT(good, 60U);
  const auto failures =
      read_json(test_folder() / "out" / "result.json")["encryption"]["tag_failures"].get<std::size_t>();
  // Corrupted on the way: as it comes in at the receiver.
  EXPECT_EQ(bad, failures);
}

}  // namespace
}  // namespace mrc
