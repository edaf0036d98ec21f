// Lists of events that are written once and read once, in cache lines beside each other. The lists of a queue share a
// pool of chunks, so that the memory of past events is reused while it is still in the cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mrc {

/// Chunks of `kEntries` entries, below 32.
template <typename Entry, std::uint32_t kEntries>
class EventChunks {
 public:
  /// A list: the number of its last chunk, and the entries in that, in one number.
  using List = std::uint32_t;

 private:
  static constexpr unsigned kCountBits = 5;
  static constexpr std::uint32_t kNoChunk = 0xFFFF'FFFF >> kCountBits;
  static_assert(kEntries < 1U << kCountBits);

 public:
  static constexpr List kEmpty = kNoChunk << kCountBits | kEntries;  ///< as if it had a full chunk

  void put(List& list, Entry entry) {
    if (count_of(list) == kEntries) list = new_chunk(chunk_of(list)) << kCountBits;
    chunks_[chunk_of(list)].entries[count_of(list)] = entry;
    ++list;
  }
  /// The last that was put in first.
  template <typename Visit>
  void for_each(List list, const Visit& visit) const {
    std::uint32_t count = count_of(list);
    for (std::uint32_t at = chunk_of(list); at != kNoChunk; at = chunks_[at].before) {
      // By value: who visits may put() into the chunks.
      for (std::uint32_t i = count; i-- > 0;) visit(Entry(chunks_[at].entries[i]));
      count = kEntries;
    }
  }
  /// The entries of a list that is not empty, where they are in one chunk; otherwise none.
  std::span<const Entry> in_one_chunk(List list) const {
    const Chunk& chunk = chunks_[chunk_of(list)];
    if (chunk.before != kNoChunk) return {};
    return std::span(chunk.entries).first(count_of(list));
  }
  void release(List list) {
    for (std::uint32_t chunk = chunk_of(list); chunk != kNoChunk;) {
      const std::uint32_t before = std::exchange(chunks_[chunk].before, free_);
      free_ = chunk;
      chunk = before;
    }
  }
  void release_all() {
    chunks_.clear();
    free_ = kNoChunk;
  }

 private:
  struct alignas(64) Chunk {
    std::uint32_t before = 0;  ///< the full chunk of the list that was filled before; kNoChunk for none
    std::array<Entry, kEntries> entries;
  };
  static_assert(sizeof(Chunk) == 256);

  static std::uint32_t chunk_of(List list) { return list >> kCountBits; }
  static std::uint32_t count_of(List list) { return list & ((1U << kCountBits) - 1); }
  std::uint32_t new_chunk(std::uint32_t before) {
    if (free_ == kNoChunk) {
      free_ = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back().before = kNoChunk;
    }
    const std::uint32_t chunk = std::exchange(free_, chunks_[free_].before);
    chunks_[chunk].before = before;
    return chunk;
  }

  std::vector<Chunk> chunks_;
  std::uint32_t free_ = kNoChunk;  ///< the first free chunk
};

}  // namespace mrc
