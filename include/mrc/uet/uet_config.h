// What Ultra Ethernet's transport (UET: RUD, reliable unordered delivery) leaves open, and what it has beside MRC.
// Ranges and sources are in the parameter registry alone.
#pragma once

#include <cstdint>
#include <string>

namespace mrc {

/// Who decides how much a sender may have in flight: its own window (network-signaled), the receiver's credits, or
/// both.
enum class UetCongestion : std::uint8_t { nscc, rccc, both };

struct UetConfig {
  UetCongestion congestion = UetCongestion::nscc;
  std::string path_policy = "ecn_bitmap";          ///< a name of path_policy_registry.h
  std::uint32_t entropies = 64;                    ///< entropy values of a PDC
  std::uint32_t timeout_exponent = 6;              ///< 1.024 us * 2^t
  std::uint32_t credit_packets = 4;                ///< MTUs of credit in one grant
  std::uint32_t credit_request_floor_packets = 1;  ///< the least that a flow asks for; 0: its part of the line
  bool answer_ends_unasked_credit = false;         ///< each answer of the receiver does; false: a NACK alone
  bool idle_credit = false;                        ///< a receiver that nobody asks grants its senders credit in turn
  double credit_rate = 0.99;                       ///< of the receiver's line rate
  bool gap_inference = false;                      ///< losses are inferred from packets that overtook, as in MRC
  bool ecn_last_hop = true;                        ///< without credits alone: those keep the last hop's queue short
};

}  // namespace mrc
