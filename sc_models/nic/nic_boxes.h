// The boxes of a NIC in the order of its pipeline. Whatever asks every box (memories, latency) goes over this list.
#pragma once

#include "nic/control/ack_coalescer.h"
#include "nic/control/completion.h"
#include "nic/control/control_queue.h"
#include "nic/control/probe_engine.h"
#include "nic/control/retransmit_timer.h"
#include "nic/control/sack_processor.h"
#include "nic/port.h"
#include "nic/rx/decrypt.h"
#include "nic/rx/dma_write.h"
#include "nic/rx/parser.h"
#include "nic/rx/psn_tracker.h"
#include "nic/tx/doorbell.h"
#include "nic/tx/encrypt.h"
#include "nic/tx/payload_fetch.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/segmenter.h"
#include "nic/tx/spray_scheduler.h"
#include "nic/tx/srv6_encap.h"
#include "nic/tx/wqe_fetch.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

template <typename... Boxes>
struct BoxList {
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
    (Boxes::declare_memories(nic, out), ...);
  }
  static void declare_latency(LatencyAccount& account) { (Boxes::declare_latency(account), ...); }
};

using TransmitBoxes = BoxList<Doorbell, QpScheduler, WqeFetch, Segmenter, PayloadFetch, PcieDma, SprayScheduler,
                              RetransmitBuffer, Encrypt, Srv6Encap>;
using ReceiveBoxes = BoxList<Parser, Decrypt, PsnTracker, DmaWrite, AckCoalescer, ControlQueue, SackProcessor,
                             RetransmitTimer, ProbeEngine, Completion>;
/// Port is between the two: packets leave and come in through it.
using NicBoxes = BoxList<TransmitBoxes, Port, ReceiveBoxes>;

}  // namespace mrc::timing
