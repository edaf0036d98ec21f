#pragma once

#include <cstdint>

#include "parameters/pipeline_config.h"

namespace mrc {

class ParameterTable;

/// Where a retransmission takes its payload from.
enum class RetransmitStore : std::uint8_t { descriptor, payload };
/// When a packet takes its record.
enum class RecordReservation : std::uint8_t { at_request, at_arrival };

struct RetransmitBufferConfig {
  PipelineConfig pipeline{5, 2};  ///< as measured; a packet is two commands: its record is made, and it is sent
  RetransmitStore store = RetransmitStore::descriptor;
  RecordReservation reserve_record = RecordReservation::at_request;
  std::uint32_t entries = 4096;
  std::uint64_t bytes = 16ULL << 20;  ///< with store = payload
  std::uint32_t queue_entries = 8;
};

/// Records or stored bytes are taken when a payload has arrived.
inline bool takes_at_arrival(const RetransmitBufferConfig& config) {
  return config.reserve_record == RecordReservation::at_arrival || config.store == RetransmitStore::payload;
}

void add_retransmit_buffer_parameters(ParameterTable& table);

}  // namespace mrc
