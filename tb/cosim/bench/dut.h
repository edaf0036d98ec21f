// A Verilated block under a bench: its clock, its reset, its ports, its waves and its coverage.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cosim/bench/ports.h"
#include "cosim/bench/verilated_failure.h"

namespace mrc::cosim {

class Dut {
 public:
  virtual ~Dut() = default;

  virtual void set_reset(bool active) = 0;
  /// Before a reset: keys what the block's assertions draw in it.
  virtual void key_draws(std::uint64_t /*key*/) {}
  /// Assertions are bound to the block.
  virtual bool asserts() const { return false; }
  /// The falling edge: outputs that depend on inputs of this cycle settle.
  virtual void low() = 0;
  /// No edge: outputs that depend on inputs of this cycle settle once more.
  virtual void settle() = 0;
  /// The rising edge.
  virtual void high() = 0;
  /// Constant inputs, by name; false: there is no such pin.
  bool set_constant(const std::string& name, std::uint64_t value) const {
    for (const Field& constant : constants) {
      if (constant.name == name) constant.pin.set(value);
      if (constant.name == name) return true;
    }
    return false;
  }
  /// Waves from now on to this FST file.
  virtual void open_waves(const std::string& path) = 0;
  /// False: the file is not whole.
  virtual bool close_waves() { return true; }
  virtual void write_coverage(const std::string& path) = 0;

  FailedAssertion failed;  ///< the first that has failed
  std::vector<Port> ports;
  std::vector<Field> constants;
  std::vector<Field> state;  ///< outputs outside the streams
  bool runs = false;         ///< has been clocked out of reset
};

}  // namespace mrc::cosim
