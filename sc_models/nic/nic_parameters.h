// What all boxes of a NIC share, and the configurations of its boxes.
#pragma once

#include <cstdint>

#include "nic/control/ack_coalescer_parameters.h"
#include "nic/control/completion_parameters.h"
#include "nic/control/control_queue_parameters.h"
#include "nic/control/probe_engine_parameters.h"
#include "nic/control/sack_processor_parameters.h"
#include "nic/nic_memory_parameters.h"
#include "nic/port_parameters.h"
#include "nic/rx/decrypt_parameters.h"
#include "nic/rx/dma_write_parameters.h"
#include "nic/rx/parser_parameters.h"
#include "nic/rx/psn_tracker_parameters.h"
#include "nic/rx/rx_staging_parameters.h"
#include "nic/tx/doorbell_parameters.h"
#include "nic/tx/encrypt_parameters.h"
#include "nic/tx/payload_fetch_parameters.h"
#include "nic/tx/qp_scheduler_parameters.h"
#include "nic/tx/retransmit_buffer_parameters.h"
#include "nic/tx/segmenter_parameters.h"
#include "nic/tx/spray_scheduler_parameters.h"
#include "nic/tx/srv6_encap_parameters.h"
#include "nic/tx/wqe_fetch_parameters.h"

namespace mrc {

class ParameterTable;

/// The boxes in the order of the documentation: the type of a box's configuration, and its name here and in
/// nic.<name>.…. A further box needs its include above and its line below; add_<name>_parameters() has its rows.
#define MRC_NIC_BOXES(BOX)                       \
  BOX(DoorbellConfig, doorbell)                  \
  BOX(QpSchedulerConfig, qp_scheduler)           \
  BOX(WqeFetchConfig, wqe_fetch)                 \
  BOX(SegmenterConfig, segmenter)                \
  BOX(PayloadFetchConfig, payload_fetch)         \
  BOX(SpraySchedulerConfig, spray_scheduler)     \
  BOX(RetransmitBufferConfig, retransmit_buffer) \
  BOX(EncryptConfig, encrypt)                    \
  BOX(Srv6EncapConfig, srv6_encap)               \
  BOX(PortConfig, port)                          \
  BOX(ParserConfig, parser)                      \
  BOX(DecryptConfig, decrypt)                    \
  BOX(PsnTrackerConfig, psn_tracker)             \
  BOX(RxStagingConfig, rx_staging)               \
  BOX(DmaWriteConfig, dma_write)                 \
  BOX(AckCoalescerConfig, ack_coalescer)         \
  BOX(ControlQueueConfig, control_queue)         \
  BOX(SackProcessorConfig, sack_processor)       \
  BOX(ProbeEngineConfig, probe_engine)           \
  BOX(CompletionConfig, completion)

struct NicConfig {
  double core_clock_ghz = 1.0;
  std::uint32_t datapath_bits = 1024;
  std::uint32_t ports = 8;
  double port_gbps = 100.0;

#define MRC_BOX_MEMBER(type, name) type name;
  MRC_NIC_BOXES(MRC_BOX_MEMBER)
#undef MRC_BOX_MEMBER
  NicMemoryConfig memory;
};

void add_nic_parameters(ParameterTable& table);

}  // namespace mrc
