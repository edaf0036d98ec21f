// The records of all wheels of a run as one stream in order of time, for whoever writes a wave or a timeline of it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/declaration.h"
#include "engine/recorder.h"

namespace mrc {

/// Something that is watched: a buffer, a slot, a work clock, a quantity.
struct RecordedObject {
  enum class Kind : std::uint8_t { level, slot, work, value };
  Kind kind = Kind::level;
  std::string node;            ///< "nic0", "fabric"
  std::string box;             ///< "segmenter"; dots make a hierarchy
  std::string signal;          ///< "queue"
  std::string unit;            ///< of a level or value
  std::uint64_t capacity = 0;  ///< of a level; the largest value otherwise, 0: unlimited
  std::uint32_t work = kNone;  ///< of a slot: the work clock that tells starved from idle
  using Moves = DeclaredBuffer::Moves;
  Moves moves = Moves::none;           ///< whose pushes and pops are told
  bool from_wire = false;              ///< of a queue: packets enter it as they arrive at the ports
  std::string maker = "";              ///< of a queue: see DeclaredBuffer
  std::string server = "";             ///< box that takes from a queue, or whose packets a slot serves
  const CauseTable* causes = nullptr;  ///< of a slot: what its states mean

  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  std::string name() const { return box + "." + signal; }
};

/// A box of the recorded NICs.
struct RecordedBox {
  BoxPlace place;
  std::vector<std::string> scopes;  ///< names under which its signals are shown

  std::string name() const { return place.full_name(); }
};

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// In order of time. `wheel` numbers Recording::wheels().
  virtual void take(const Record& record, std::uint32_t wheel) = 0;
  /// Nothing comes any more; the file appears under its name. Throws OutputError.
  virtual void close() = 0;
};

class Recording {
 public:
  /// How late a wheel may tell of something (a completion looked at when its job ends, a lookahead).
  static constexpr TimePs kHoldBackPs = 50 * kPsPerUs;

  /// The recorder of a new wheel; it stays where it is.
  Recorder& add_wheel(std::string name);
  std::uint32_t add_object(RecordedObject object);
  /// Sinks are added when all objects are there.
  void add_sink(std::unique_ptr<RecordSink> sink) { sinks_.push_back(std::move(sink)); }

  /// The boxes of a NIC in the order of its picture; all NICs have the same, with more or fewer ports.
  void add_picture(std::vector<RecordedBox> boxes) {
    if (boxes.size() > picture_.size()) picture_ = std::move(boxes);
  }

  const std::vector<RecordedObject>& objects() const { return objects_; }
  const std::vector<RecordedBox>& picture() const { return picture_; }
  const std::vector<std::string>& wheels() const { return wheels_; }

  /// All wheels have run up to `now`: hands on what lies further back than the hold-back.
  void flush(TimePs now);
  /// Hands on the rest and closes the files.
  void close();
  /// Records that came later than the hold-back allows and are shown at the time they came; 0 in a sound run.
  std::uint64_t late() const { return late_; }

 private:
  struct Due {
    Record record;
    std::uint32_t wheel;
  };
  void flush_before(TimePs time);

  std::vector<RecordedObject> objects_;
  std::vector<RecordedBox> picture_;
  std::vector<std::string> wheels_;
  std::deque<Recorder> recorders_;
  std::vector<std::unique_ptr<RecordSink>> sinks_;
  std::vector<Due> due_;
  TimePs flushed_before_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace mrc
