// The first field in which two replies of retransmit_buffer differ.
#pragma once

#include <string>

#include "mrc/tx/retransmit_command.h"

namespace mrc {

/// "field: expected …, RTL gave …"; empty where they are the same.
std::string difference(const RetransmitReply& expected, const RetransmitReply& actual);

}  // namespace mrc
