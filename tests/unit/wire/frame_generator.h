// Legal frames from a seed: every field that may hold anything gets random bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mrc/random.h"
#include "mrc/wire/frame.h"

namespace mrc::wire {

inline constexpr std::array kOpcodes{
    Opcode::write_first,       Opcode::write_middle,   Opcode::write_last,    Opcode::write_last_imm,
    Opcode::write_only,        Opcode::write_only_imm, Opcode::transport_ack, Opcode::endpoint_request,
    Opcode::endpoint_response, Opcode::sack,           Opcode::nack,          Opcode::probe_request};
inline constexpr std::array kWriteOpcodes{Opcode::write_first,    Opcode::write_middle, Opcode::write_last,
                                          Opcode::write_last_imm, Opcode::write_only,   Opcode::write_only_imm};
inline constexpr std::array kEncapsulations{Encapsulation::none, Encapsulation::srv6, Encapsulation::srv6_srh};
inline constexpr std::array kNackReasons{
    NackReason::trimmed,     NackReason::trimmed_lasthop, NackReason::no_bitmap,  NackReason::no_pkt_buffer,
    NackReason::no_resource, NackReason::psn_oor_window,  NackReason::unexp_event};

struct FrameShape {
  Opcode opcode = Opcode::write_only;
  Encapsulation encapsulation = Encapsulation::srv6;
  bool inner_ipv4 = false;
  bool timestamp = true;
  std::size_t payload_bytes = 0;  ///< of data
};

class FrameGenerator {
 public:
  explicit FrameGenerator(std::uint64_t seed) : random_(seed, "frame_generator") {}

  /// The payload stays valid until the next call.
  Frame frame(const FrameShape& shape);
  /// A shape of that opcode with up to `most_payload_bytes`.
  FrameShape shape(Opcode opcode, std::size_t most_payload_bytes);
  /// A whole packet as the model makes it. Its payload stays valid until the next call.
  Packet packet(Opcode opcode, std::size_t payload_bytes);
  KeyedRandom& random() { return random_; }

 private:
  template <typename Header>
  void randomize(Header& header);
  void draw_payload(std::size_t bytes);
  void make_legal(Frame& frame, const FrameShape& shape);

  KeyedRandom random_;
  std::vector<std::byte> payload_;
};

/// Fields from BTH on by the names that docs/wireshark/mrc.lua gives them, as "mrc.bth.opcode"; of a trimmed frame
/// those of whole headers.
std::vector<std::pair<std::string, std::uint64_t>> mrc_fields(const Frame& frame);

}  // namespace mrc::wire
