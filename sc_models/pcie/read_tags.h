// The state behind each read tag, as the NIC needs it to tell a completion that it waits for from one that it does not:
// a second copy, an answer that comes after its request was given up, a piece behind a lost one.
#pragma once

#include <cstdint>
#include <vector>

#include "mrc/ring.h"

namespace mrc {

class ReadTags {
 public:
  /// What one request still waits for.
  struct Tag {
    std::uint64_t address = 0;
    std::uint32_t sequence = 0;
    std::uint32_t job = 0;
    std::uint32_t bytes = 0;
    std::uint32_t received = 0;  ///< completions of a request come in order
    bool outstanding = false;
    bool poisoned = false;
  };
  enum class Verdict : std::uint8_t { unexpected, behind_loss, accepted, complete };

  explicit ReadTags(std::uint32_t count) : tags_(count) {
    for (std::uint32_t tag = 0; tag < count; ++tag) free_.push(static_cast<std::uint16_t>(tag));
  }
  bool any_free() const { return !free_.empty(); }
  /// The tag that was free for longest, so that a late answer meets its own tag's state for as long as possible.
  /// Precondition: any_free().
  std::uint16_t allocate(std::uint32_t sequence, std::uint32_t job, std::uint64_t address, std::uint32_t bytes) {
    const std::uint16_t tag = free_.front();
    free_.pop();
    tags_[tag] = {address, sequence, job, bytes, 0, true, false};
    return tag;
  }
  /// The tag that allocate() takes next. Precondition: any_free().
  std::uint16_t next() const { return free_.front(); }
  /// As allocate(), with the tag that somebody else has chosen: it leaves its place among the free ones.
  void allocate_as(std::uint16_t tag, std::uint32_t sequence, std::uint32_t job, std::uint64_t address,
                   std::uint32_t bytes) {
    for (std::uint64_t i = 0, count = free_.size(); i < count; ++i) {
      const std::uint16_t other = free_.front();
      free_.pop();
      if (other != tag) free_.push(other);
    }
    tags_[tag] = {address, sequence, job, bytes, 0, true, false};
  }
  void release(std::uint16_t tag) {
    tags_[tag].outstanding = false;
    free_.push(tag);
  }
  const Tag& operator[](std::uint16_t tag) const { return tags_[tag]; }
  /// The tag still belongs to the request with this sequence.
  bool holds(std::uint16_t tag, std::uint32_t sequence) const {
    return tags_[tag].outstanding && tags_[tag].sequence == sequence;
  }

  /// A completion with `bytes` that begin `offset` bytes into its request. Hardware compares tag, byte count and lower
  /// address; the model compares the request itself.
  Verdict accept(std::uint16_t tag, std::uint32_t sequence, std::uint32_t offset, std::uint32_t bytes, bool poisoned) {
    Tag& read = tags_[tag];
    if (!holds(tag, sequence) || offset < read.received) return Verdict::unexpected;
    if (offset > read.received) return Verdict::behind_loss;
    return take(read, bytes, poisoned);
  }
  /// As hardware judges it, which knows the request by its tag only: by the bytes that are owed with this completion.
  /// One that comes a second time, when its tag has a new request, is that one's.
  Verdict accept_by_count(std::uint16_t tag, std::uint32_t bytes, std::uint32_t byte_count, bool poisoned) {
    Tag& read = tags_[tag];
    const std::uint32_t owed = read.bytes - read.received;
    if (!read.outstanding || byte_count > owed) return Verdict::unexpected;
    if (byte_count < owed) return Verdict::behind_loss;
    return take(read, bytes, poisoned);
  }

 private:
  static Verdict take(Tag& read, std::uint32_t bytes, bool poisoned) {
    read.received += bytes;
    read.poisoned = read.poisoned || poisoned;
    return read.received == read.bytes ? Verdict::complete : Verdict::accepted;
  }

  std::vector<Tag> tags_;
  Ring<std::uint16_t> free_;
};

}  // namespace mrc
