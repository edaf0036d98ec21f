// Where a requestor asks for its records besides its own: RTL of retransmit_buffer in their place or beside them.
#pragma once

#include "mrc/tx/retransmit_command.h"

namespace mrc {

class RetransmitPort {
 public:
  virtual ~RetransmitPort() = default;
  /// False once what stands behind it has gone another way and is not to be asked any more.
  virtual bool asks() const = 0;
  /// Its replies are the only source of the decision, and the requestor's records follow.
  virtual bool drives() const = 0;
  /// The reply is valid until the next command.
  virtual const RetransmitReply& run(const RetransmitCommand& command) = 0;
  /// What the requestor's own records would have done with the command that ran last, and their state after it.
  virtual void compare(const RetransmitCommand& command, RetransmitReply& expected) = 0;
};

}  // namespace mrc
