// An assertion of a Verilated block that fails: kept for the bench that listens, in the place of Verilator's print and
// abort.
#pragma once

#include <cstdint>
#include <string>

namespace mrc::cosim {

struct FailedAssertion {
  std::string name;   ///< empty: none has failed
  std::string place;  ///< "FILE:LINE", without folder
};

/// While one lives, the first assertion of this thread's RTL that fails is kept in `failed`; a $fatal or $stop too.
class FailureListener {
 public:
  explicit FailureListener(FailedAssertion& failed);
  ~FailureListener();
  FailureListener(const FailureListener&) = delete;
  FailureListener& operator=(const FailureListener&) = delete;
};

}  // namespace mrc::cosim
