// MRC's halves behind those that boxes see: for its light endpoint, and for RTL that implements MRC's rules.
#pragma once

#include "mrc/halves/mrc_halves.h"
#include "nic/tx/send_records.h"
#include "node/nic_path_table.h"
#include "node/qp.h"

namespace mrc {

/// Ring 1's, over what a NIC can have in RTL.
using NicRequestor = BasicRequestor<SendRecords, NicPathTable>;
using MrcSender = MrcSendingHalf<NicRequestor>;

/// Preconditions: the scenario's transport is MRC, and the QP has this half.
inline NicRequestor& requestor_of(const Qp& qp) {
  return static_cast<MrcSender&>(*qp.sender).requestor;
}
inline Responder& responder_of(const Qp& qp) {
  return static_cast<MrcReceivingHalf&>(*qp.receiver).responder;
}

}  // namespace mrc
