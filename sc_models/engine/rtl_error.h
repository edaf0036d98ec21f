// RTL that does not keep its handshakes: a mismatch, which ends a run with exit code 4.
#pragma once

#include <stdexcept>

namespace mrc {

class RtlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mrc
