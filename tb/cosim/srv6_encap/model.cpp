#include "cosim/srv6_encap/model.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "mrc/wire/headers.h"
#include "mrc/wire/icrc.h"

namespace mrc::cosim {
namespace {

using srv6_encap_ports::In;
using srv6_encap_ports::Out;

constexpr std::size_t kLeastWithIcrc = 60;  ///< IPv6, UDP and BTH

const std::vector<std::string> kModes{"plain", "SRH", "ICRC", "SRH and ICRC"};

Srv6EncapInput random_input(KeyedRandom& random) {
  Srv6EncapInput in;
  in.path.locator = static_cast<std::uint32_t>(random.next());
  in.path.count = static_cast<std::uint8_t>(1 + random.below(kMostUsids));
  for (std::size_t i = 0; i < in.path.count; ++i) in.path.usid[i] = static_cast<Usid>(random.next() & 0x1FFF);
  in.path.uplink_position =
      random.chance(0.7) ? static_cast<std::uint8_t>(random.below(in.path.count)) : UsidTemplate::kNoUplink;
  in.source = {random.next(), random.next()};
  in.flow_label = static_cast<std::uint32_t>(random.next() & 0xF'FFFF);
  in.uplink = static_cast<std::uint32_t>(random.below(kMostUsidIndex + 1));
  in.payload_length = static_cast<std::uint16_t>(random.next());
  in.plane = static_cast<std::uint8_t>(random.below(kMostUsidPlanes));
  in.hop_limit = static_cast<std::uint8_t>(random.next());
  in.dscp = static_cast<std::uint8_t>(random.below(64));
  in.ecn = static_cast<Ecn>(random.below(4));
  return in;
}

template <typename Header>
std::string field_at(std::size_t byte) {
  std::string found;
  std::size_t bit = 0;
  const Header header;
  Header::fields(header, [&](std::string_view name, unsigned bits, const auto&) {
    // The field that the byte ends in; its high bits may be of the one before.
    if (bit <= 8 * byte + 7) found = name;
    bit += bits;
  });
  return fmt::format("{}.{}", Header::kName, found);
}

}  // namespace

Srv6EncapModel::Srv6EncapModel(std::uint32_t beat_bytes, MakeDut make_dut)
    : BlockModel(std::move(make_dut)), beat_bytes_(beat_bytes), cycles_(beat_bytes) {
  points_.mode = coverage.cross("mode × beats of the packet", kModes, {"1", "2", "3 or more"});
  points_.change = coverage.cross("mode × mode of the packet before", kModes, kModes);
  points_.ending =
      coverage.cross("mode × last beat", kModes,
                     {"the rest fits", "the rest fills a beat", "a beat more for one byte", "a beat more", "full"});
  if (beat_bytes == kIpv6HeaderBytes + kSrhBytes) {
    for (const std::size_t bin : {1 * 5, 1 * 5 + 1, 3 * 5})
      coverage.waive(points_.ending, bin, "the headers fill a beat");
  }
  points_.icrc = coverage.point("bytes of the ICRC in the last output beat", {"1", "2", "3", "4"});
  points_.icrc_spill =
      coverage.point("bytes of the ICRC that do not fit behind the packet's last", {"0", "1", "2", "3", "4"});
  points_.usids = coverage.point("uSIDs", {"1", "2", "3", "4", "5", "6"});
  points_.uplink = coverage.point("uSID with the uplink", {"0", "1", "2", "3", "4", "5", "none"});
  points_.plane = coverage.point("plane", {"0", "1", "2", "3", "4", "5", "6", "7"});
}

void Srv6EncapModel::reset(KeyedRandom& random, const Dut&) {
  constexpr std::array<std::uint64_t, 4> all{0, 1, 2, 3};
  modes_ = random.chance(0.5) ? std::vector<std::uint64_t>(all.begin(), all.end())
                              : std::vector<std::uint64_t>{random.below(4)};
  small_packets_ = random.chance(0.85);
  traffic_ = false;
  cycles_.reset();
  sending_ = {};
  in_packet_ = false;
  mode_before_ = 0;
  leaving_.clear();
  inside_.clear();
  out_at_ = 0;
}

void Srv6EncapModel::reset_to_trace(KeyedRandom& random, const Dut& dut,
                                    const std::map<std::string, std::uint64_t>& settings) {
  if (settings.at("beat_bytes") != beat_bytes_) {
    throw std::invalid_argument(
        fmt::format("the run's srv6_encap is {} B wide, this size {} B", settings.at("beat_bytes"), beat_bytes_));
  }
  reset(random, dut);
}

void Srv6EncapModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  reset(random, dut);
  modes_ = {0};
  traffic_ = true;
}

/// `added`: bytes that the block puts to the packet. Half of the packets are where something changes.
std::size_t Srv6EncapModel::draw_length(KeyedRandom& random, std::size_t added) const {
  if (traffic_) return std::array{104, 360, 1'128, 4'200}[random.below(4)];
  const std::size_t most_beats = small_packets_ ? 3 : 36;
  const std::size_t least = added % 8 == 4 ? kLeastWithIcrc : 1;
  if (random.chance(0.5)) return least + random.below(most_beats * beat_bytes_);
  const std::size_t edge =
      (1 + random.below(most_beats)) * beat_bytes_ - (random.chance(0.5) ? 0 : added % beat_bytes_);
  return std::max(least, edge + random.below(11) - 5);
}

void Srv6EncapModel::draw_packet(KeyedRandom& random) {
  const std::uint64_t mode = modes_[random.below(modes_.size())];
  sending_.input = random_input(random);
  sending_.input.srh = (mode & 1) != 0;
  sending_.input.icrc = (mode & 2) != 0;
  sending_.sent = 0;
  const std::size_t added =
      kIpv6HeaderBytes + (sending_.input.srh ? kSrhBytes : 0) + (sending_.input.icrc ? kIcrcBytes : 0);
  sending_.bytes.resize(draw_length(random, added));
  for (std::size_t i = 0; i < sending_.bytes.size(); i += 8) {
    const std::uint64_t word = random.next();
    for (std::size_t byte = i; byte < std::min(i + 8, sending_.bytes.size()); ++byte) {
      sending_.bytes[byte] = static_cast<std::byte>(word >> (8 * (byte - i)) & 0xFF);
    }
  }
}

bool Srv6EncapModel::offer(std::size_t, KeyedRandom& random, Transaction& values) {
  if (sending_.sent == sending_.bytes.size()) draw_packet(random);
  // What does not count may be anything.
  const bool other = sending_.sent != 0 && random.chance(0.1);
  In in = srv6_encap_in(other ? random_input(random) : sending_.input);
  if (other) in.srh = random.below(2);
  if (other) in.icrc = random.below(2);
  values = srv6_encap_beat(in, sending_.bytes, sending_.sent, beat_bytes_);
  const std::size_t count = values[In::kBytes];
  for (std::size_t i = count; i < beat_bytes_; ++i) {
    put_data(values, In::kData, i, static_cast<std::byte>(random.next()));
  }
  sending_.sent += count;
  return true;
}

bool Srv6EncapModel::adapt(std::size_t, Transaction& values) const {
  const bool long_enough =
      values[In::kEop] == 0 || values[In::kBytes] >= kLeastWithIcrc || values[In::kSop] == 0 || values[In::kIcrc] == 0;
  return (values[In::kSop] != 0) != in_packet_ && (values[In::kEop] != 0 || values[In::kBytes] == beat_bytes_) &&
         long_enough;
}

void Srv6EncapModel::begin_packet(const Transaction& values) {
  const Srv6EncapInput input = srv6_encap_input(In::of(values));
  mode_ = values[In::kSrh] | values[In::kIcrc] << 1;
  inner_.clear();
  leaving_.clear();
  first_out_ = true;
  beats_in_ = 0;
  const OuterHeaderBytes header = outer_ipv6_header(input);
  leaving_.assign(header.begin(), header.end());
  if (input.srh) {
    const SrhBytes srh = segment_routing_header(input);
    leaving_.insert(leaving_.end(), srh.begin(), srh.end());
  }
  inside_.push_back({leaving_.size(), 0, values[In::kIcrc] != 0});
  coverage.hit(points_.usids, input.path.count - 1U);
  coverage.hit(points_.uplink, std::min<std::size_t>(input.path.uplink_position, kMostUsids));
  coverage.hit(points_.plane, input.plane);
}

void Srv6EncapModel::count_packet(std::size_t inner_bytes) {
  coverage.hit(points_.mode, mode_, std::min<std::size_t>(beats_in_, 3) - 1, 3);
  coverage.hit(points_.change, mode_, mode_before_, kModes.size());
  const std::size_t added = inside_.back().bytes - inner_bytes;
  const std::size_t last = (inner_bytes - 1) % beat_bytes_ + 1;
  const std::size_t rest = (last + added) % beat_bytes_;
  const std::size_t beats = (inside_.back().bytes + beat_bytes_ - 1) / beat_bytes_;
  const bool more = beats > beats_in_;
  const std::size_t ending = last == beat_bytes_ ? 4 : rest == 0 ? 1 : !more ? 0 : rest == 1 ? 2 : 3;
  coverage.hit(points_.ending, mode_, ending, 5);
  if ((mode_ & 2) == 0) return;
  coverage.hit(points_.icrc, (rest == 0 ? kIcrcBytes : std::min<std::size_t>(rest, kIcrcBytes)) - 1);
  coverage.hit(points_.icrc_spill, last + kIcrcBytes - std::min<std::size_t>(last + kIcrcBytes, beat_bytes_));
}

void Srv6EncapModel::end_packet() {
  const std::size_t inner_bytes = inner_.size();
  if ((mode_ & 2) != 0) {
    const std::uint32_t crc = wire::icrc(inner_, false);
    for (unsigned shift = 0; shift < 32; shift += 8) leaving_.push_back(static_cast<std::byte>(crc >> shift & 0xFF));
  }
  inside_.back().bytes = inside_.back().header_bytes + inner_bytes + ((mode_ & 2) != 0 ? kIcrcBytes : 0);
  count_packet(inner_bytes);
  mode_before_ = mode_;
}

Transaction Srv6EncapModel::next_beat(bool first, bool last) {
  const std::size_t count = std::min<std::size_t>(beat_bytes_, leaving_.size());
  Transaction values = Out{.bytes = count, .sop = first ? 1U : 0U, .eop = last ? 1U : 0U}.transfer();
  values.resize(Out::kData + beat_bytes_ / 4, 0);
  for (std::size_t i = 0; i < count; ++i) put_data(values, Out::kData, i, leaving_[i]);
  leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<std::ptrdiff_t>(count));
  return values;
}

void Srv6EncapModel::accept(std::size_t, const Transaction& values, std::vector<std::vector<Transaction>>& expected) {
  if (values[In::kSop] != 0) begin_packet(values);
  ++beats_in_;
  for (std::size_t i = 0; i < values[In::kBytes]; ++i) {
    inner_.push_back(data_of(values, In::kData, i));
    leaving_.push_back(inner_.back());
  }
  in_packet_ = values[In::kEop] == 0;
  if (!in_packet_) end_packet();
  beats_out_ = 0;
  // The last beat has to be known as such.
  while (leaving_.size() > beat_bytes_ || (!in_packet_ && !leaving_.empty())) {
    const bool last = !in_packet_ && leaving_.size() <= beat_bytes_;
    expected[1].push_back(next_beat(first_out_, last));
    first_out_ = false;
    ++beats_out_;
  }
}

std::optional<Difference> Srv6EncapModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>&) {
  if (!data_sheet_cycles) return std::nullopt;
  const Port& in = dut.ports[In::kPort];
  const Port& out = dut.ports[Out::kPort];
  const auto set = [&](std::size_t field) { return in.fields[field].pin.get() != 0; };
  const Srv6EncapCycles::Pins pins{.valid = in.valid.get() != 0,
                                   .sop = set(In::kSop),
                                   .eop = set(In::kEop),
                                   .srh = set(In::kSrh),
                                   .icrc = set(In::kIcrc),
                                   .bytes = in.fields[In::kBytes].pin.get(),
                                   .out_ready = out.ready.get() != 0};
  std::optional<Difference> first;
  const auto compare = [&](const char* what, bool wanted, bool actual) {
    if (wanted != actual && !first) first = Difference{what, wanted ? 1U : 0U, actual ? 1U : 0U};
  };
  compare("out_valid", cycles_.out_valid(), out.valid.get() != 0);
  if (pins.valid) compare("in_ready", cycles_.in_ready(pins), in.ready.get() != 0);
  cycles_.edge(pins);
  return first;
}

void Srv6EncapModel::taken(std::size_t, const Transaction& values) {
  out_at_ += values[Out::kBytes];
  if (values[Out::kEop] == 0) return;
  out_at_ = 0;
  inside_.pop_front();
}

void Srv6EncapModel::hide(std::size_t, const Transaction&, Transaction& values) const {
  const std::size_t bytes = values[Out::kBytes];
  for (std::size_t word = bytes / 4; word < beat_bytes_ / 4; ++word) {
    const std::size_t valid = bytes > 4 * word ? bytes - 4 * word : 0;
    values[Out::kData + word] &= (std::uint64_t{1} << (8 * valid)) - 1;
  }
}

std::string Srv6EncapModel::meaning(std::size_t, std::size_t field, std::uint64_t expected,
                                    std::uint64_t actual) const {
  if (field < Out::kData || inside_.empty() || expected == actual) return {};
  std::size_t byte = 0;
  while (((expected ^ actual) >> (8 * byte) & 0xFF) == 0) ++byte;
  const Inside& packet = inside_.front();
  const std::size_t at = out_at_ + 4 * (field - Out::kData) + byte;
  if (at < kIpv6HeaderBytes) return field_at<wire::Ipv6Header>(at);
  if (at < packet.header_bytes) return field_at<wire::SegmentRoutingHeader>(at - kIpv6HeaderBytes);
  if (packet.icrc && packet.bytes != 0 && at + kIcrcBytes >= packet.bytes) return "ICRC";
  return fmt::format("byte {} of the packet", at - packet.header_bytes);
}

}  // namespace mrc::cosim
