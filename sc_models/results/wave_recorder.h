// Makes signals of a recording: levels, strobes of what moves, states of slots as words, quantities. Changes of one
// moment are one change; a strobe is high for one cycle of the core clock, so transfers cycle by cycle stay high.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "results/recording.h"
#include "results/wave_writer.h"

namespace mrc {

struct WaveOptions {
  std::string path;                ///< .fst or .vcd; empty: no waves
  std::vector<std::string> nodes;  ///< "nic0", "fabric"
  TimePs from_ps = 0;
  TimePs to_ps = kNever;
};

/// "FROM..TO" in microseconds, either may be empty; throws OutputError that says what is allowed.
std::pair<TimePs, TimePs> parse_wave_window(const std::string& text);

class WaveRecorder final : public RecordSink {
 public:
  /// `strobe_ps`: how long a strobe stays high. Throws OutputError where the file cannot be written.
  WaveRecorder(const WaveOptions& options, const Recording& recording, TimePs strobe_ps);

  void take(const Record& record, std::uint32_t wheel) override;
  /// Writes the saved view beside the file as well.
  void close() override;

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  struct Signal {
    std::string box;  ///< with the node before it
    std::string name;
    std::uint32_t width = 0;  ///< 0: a state
    std::uint64_t value = 0;
    std::uint64_t written = 0;
    const CauseTable* causes = nullptr;  ///< of a state
    bool dirty = false;
    TimePs falls_at = 0;  ///< of a strobe
    WaveWriter::Handle handle = 0;
  };
  /// Signals of an object by what they show.
  struct Shown {
    std::uint32_t level = kNone;
    std::uint32_t push = kNone;  ///< for packets, the PSN and the destination QP follow it
    std::uint32_t pop = kNone;
    std::uint32_t first_port_strobe = kNone;  ///< of the queue behind the ports: what each port has received
    std::vector<std::uint32_t> slots;         ///< of a work clock: objects that ask it
  };

  std::uint32_t add_signal(const std::string& box, std::string name, std::uint32_t width);
  std::uint32_t add_strobe(const std::string& box, const std::string& name, bool packets);
  void declare_receive(const RecordedObject& queue, Shown& shown);
  void declare(std::uint32_t object);
  void write_header();
  void move_to(TimePs time);
  void write_changes();
  void write_all();
  void write_signal(Signal& signal);
  void set(std::uint32_t signal, std::uint64_t value);
  void strobe(std::uint32_t first_signal, const Record& record);
  void show_slot(std::uint32_t object);
  bool inside() const { return current_ <= options_.to_ps; }

  WaveOptions options_;
  const Recording& recording_;
  TimePs strobe_ps_;
  std::unique_ptr<WaveWriter> writer_;
  std::vector<Signal> signals_;
  std::vector<Shown> shown_;        ///< by object
  std::vector<std::uint64_t> raw_;  ///< by object: level, slot state, work in hand
  std::vector<std::uint32_t> dirty_;
  using Fall = std::pair<TimePs, std::uint32_t>;
  std::priority_queue<Fall, std::vector<Fall>, std::greater<>> falls_;
  TimePs current_ = 0;
  bool begun_ = false;
};

}  // namespace mrc
