// Random damage on a link, from per-packet probabilities; each link draws from its own sequence.
#pragma once

#include <cstdint>
#include <string_view>

#include "mrc/packet.h"
#include "mrc/random.h"
#include "parameters/config.h"

namespace mrc {

struct ImpairmentCounts {
  std::uint64_t dropped = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t ce_marked = 0;
};

class Impairment {
 public:
  enum class Verdict : std::uint8_t { pass, drop, duplicate };

  Impairment(const FabricConfig& config, const ProtocolConfig& protocol, std::uint64_t seed, std::string_view link)
      : loss_(config.loss_rate),
        trim_(protocol.trim_nack ? config.trim_rate : 0.0),
        corrupt_(config.corrupt_rate),
        duplicate_(config.duplicate_rate),
        ecn_(config.ecn_rate),
        encapsulation_(protocol.encapsulation),
        encryption_(protocol.encryption),
        trim_bytes_(config.trim_bytes),
        random_(seed, link) {}

  /// Decides the damage of `packet` and marks it. Only data is trimmed, only data and probes are CE-marked.
  Verdict apply(Packet& packet) {
    if (random_.chance(loss_)) {
      ++counts_.dropped;
      return Verdict::drop;
    }
    if (random_.chance(corrupt_)) {
      packet.damage = Damage::corrupted;
      packet.corrupt_bit = static_cast<std::uint32_t>(random_.next());
      ++counts_.corrupted;
    } else if (takes_data_class(packet) && packet.damage == Damage::none) {
      mark_data(packet);
    }
    if (!random_.chance(duplicate_)) return Verdict::pass;
    ++counts_.duplicated;
    return Verdict::duplicate;
  }
  const ImpairmentCounts& counts() const { return counts_; }

 private:
  static bool takes_data_class(const Packet& packet) {
    return is_data(packet.opcode) || packet.opcode == Opcode::probe_request;
  }
  bool longer_than_trimmed(const Packet& packet) const {
    return wire_bytes(packet, encapsulation_, encryption_) >
           trim_bytes_ + kEthernetOverheadBytes - kEthernetHeaderBytes;
  }
  void mark_data(Packet& packet) {
    if (is_data(packet.opcode) && random_.chance(trim_) && longer_than_trimmed(packet)) {
      packet.damage = Damage::trimmed;
      ++counts_.trimmed;
    }
    if (packet.ecn != Ecn::not_ect && random_.chance(ecn_)) {
      packet.ecn = Ecn::ce;
      ++counts_.ce_marked;
    }
  }

  double loss_;
  double trim_;
  double corrupt_;
  double duplicate_;
  double ecn_;
  Encapsulation encapsulation_;
  EncryptionConfig encryption_;
  std::uint32_t trim_bytes_;
  KeyedRandom random_;
  ImpairmentCounts counts_;
};

}  // namespace mrc
