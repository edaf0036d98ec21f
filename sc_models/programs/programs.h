// What a run asks of the programs that drive its NICs, detailed or light. Who starts them and speaks with them is
// outside of the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mrc/types.h"
#include "pcie/host_memory.h"
#include "programs/program_host.h"

namespace mrc {

class Programs {
 public:
  virtual ~Programs() = default;

  /// Of the node's host: bytes are read from the programs and written to them.
  virtual OtherMemory& memory_of(NodeId node) = 0;
  /// The model is built; by node.
  virtual void attach(const std::vector<ProgramHost*>& hosts) = 0;

  /// Everything that programs do at `now`. Returns when one of them does something next, at the latest; `now` where
  /// they wait for the world outside; kNever where all wait for what the NICs do.
  virtual TimePs run(TimePs now) = 0;
  /// When programs see what the NICs have put in memory or among their completions; kNever: there is nothing.
  virtual TimePs next_visible() const = 0;
  /// All programs have ended.
  virtual bool over() const = 0;
  /// Grows while programs do anything.
  virtual std::uint64_t progress() const = 0;

  virtual std::uint64_t messages_offered() const = 0;
  virtual std::uint64_t bytes_offered() const = 0;
  /// Why the run failed, where a program did; empty otherwise.
  virtual std::vector<std::string> failures() const = 0;
  virtual std::vector<std::string> describe_waits() const = 0;
  /// What a reader of the results may not expect.
  virtual std::vector<std::string> notes() const = 0;
};

}  // namespace mrc
