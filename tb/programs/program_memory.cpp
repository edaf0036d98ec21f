#include "programs/program_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace mrc {
namespace {

constexpr std::uint64_t kPlaceBytes = ProgramMemory::kMostKeptBytes;
constexpr std::uint64_t kLeastKeptBytes = 64;
constexpr std::size_t kMostSpare = 4'096;
/// Regions that begin before an address and may hold it, looked through from the nearest.
constexpr int kOverlaps = 64;

/// Memory filled with zeros; null if the system has too little.
std::byte* zeroed(std::uint64_t bytes) {
  return static_cast<std::byte*>(std::calloc(std::max<std::uint64_t>(bytes, 1), 1));
}

bool read_process(pid_t pid, std::uint64_t from, std::byte* to, std::uint64_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(from), bytes};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace

void ProgramMemory::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

std::uint32_t ProgramMemory::add_process(pid_t pid) {
  if (address(static_cast<std::uint32_t>(pids_.size()) + 1, 0) >= kKeptBase) return 0;
  pids_.push_back(pid);
  return static_cast<std::uint32_t>(pids_.size());
}

void ProgramMemory::remove_process(std::uint32_t process) {
  pids_[process - 1] = 0;
  for (auto& [range, region] : regions_) {
    if (range.first >> kAddressBits == process) region.registrations = 0;
  }
}

bool ProgramMemory::add_region(std::uint32_t process, std::uint64_t own, std::uint64_t bytes) {
  const std::pair range{address(process, own), bytes};
  auto found = regions_.find(range);
  if (found == regions_.end()) {
    Region region;
    region.mirror.reset(zeroed(bytes));
    if (!region.mirror) return false;
    found = regions_.emplace(range, std::move(region)).first;
  }
  ++found->second.registrations;
  return true;
}

void ProgramMemory::remove_region(std::uint32_t process, std::uint64_t own, std::uint64_t bytes) {
  // The mirror stays: packets under way may refer to it.
  const auto found = regions_.find({address(process, own), bytes});
  if (found != regions_.end() && found->second.registrations > 0) --found->second.registrations;
}

std::uint64_t ProgramMemory::reserve(std::uint64_t bytes) {
  const auto size = static_cast<std::size_t>(std::bit_width(std::max(bytes, kLeastKeptBytes) - 1));
  std::deque<std::uint32_t>& places = free_places_[size];
  if (places.empty()) {
    kept_.push_back({.memory = std::unique_ptr<std::byte, Free>(zeroed(std::uint64_t{1} << size)), .size = size});
    if (!kept_.back().memory) throw std::bad_alloc();
    return kKeptBase | (kept_.size() - 1) * kPlaceBytes;
  }
  const std::uint32_t place = places.front();
  places.pop_front();
  std::memset(kept_[place].memory.get(), 0, bytes);
  return kKeptBase | place * kPlaceBytes;
}

std::uint64_t ProgramMemory::keep(const std::byte* from, std::uint64_t bytes) {
  const std::uint64_t kept = reserve(bytes);
  std::memcpy(at_kept(kept), from, bytes);
  return kept;
}

std::byte* ProgramMemory::at_kept(std::uint64_t kept) const {
  return kept_[(kept & kAddressMask) / kPlaceBytes].memory.get() + (kept & kAddressMask) % kPlaceBytes;
}

void ProgramMemory::put(std::uint32_t process, std::uint64_t own, const std::byte* from, std::uint64_t bytes) {
  write_now({address(process, own), std::vector<std::byte>(from, from + bytes)});
  touched_.push_back(process);
}

void ProgramMemory::settle(std::uint32_t process) {
  touched_ = apply(0, process);
}

void ProgramMemory::release(std::uint64_t kept) {
  const auto place = static_cast<std::uint32_t>((kept & kAddressMask) / kPlaceBytes);
  free_places_[kept_[place].size].push_back(place);
}

bool ProgramMemory::copy(std::uint32_t process, std::uint64_t own, std::byte* to, std::uint64_t bytes) const {
  return bytes == 0 || (pids_[process - 1] != 0 && read_process(pids_[process - 1], own, to, bytes));
}

ProgramMemory::Region* ProgramMemory::find(std::uint64_t at, std::uint64_t bytes, std::uint64_t& base) {
  auto after = regions_.upper_bound({at, ~std::uint64_t{0}});
  for (int i = 0; i < kOverlaps && after != regions_.begin(); ++i) {
    --after;
    const auto& [first, length] = after->first;
    if (after->second.registrations == 0 || at - first > length || bytes > length - (at - first)) continue;
    base = first;
    return &after->second;
  }
  return nullptr;
}

const std::byte* ProgramMemory::read(std::uint64_t at, std::uint64_t bytes) {
  if (at >= kKeptBase) return at_kept(at);
  std::uint64_t base = 0;
  Region* region = find(at, bytes, base);
  if (region == nullptr) {
    // Deregistered while the NIC still worked on it: nothing of the program's leaves.
    ++faults_;
    static const std::vector<std::byte> zeros(std::size_t{1} << 16);
    return zeros.data();
  }
  std::byte* to = region->mirror.get() + (at - base);
  const pid_t pid = pids_[(at >> kAddressBits) - 1];
  if (pid == 0 || !read_process(pid, at & kAddressMask, to, bytes)) {
    ++faults_;
    std::memset(to, 0, bytes);
  }
  return to;
}

void ProgramMemory::write(TimePs at, std::uint64_t to, const std::byte* source, std::uint64_t bytes) {
  if (bytes == 0 || source == nullptr) return;
  if (to >= kKeptBase) {
    std::memcpy(at_kept(to), source, bytes);
    return;
  }
  Write write{to, {}};
  if (!spare_.empty()) {
    write.bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  write.bytes.assign(source, source + bytes);
  writes_.emplace(at + later_ps_, std::move(write));
}

void ProgramMemory::write_now(const Write& write) {
  std::uint64_t base = 0;
  const std::uint32_t process = static_cast<std::uint32_t>(write.address >> kAddressBits);
  if (find(write.address, write.bytes.size(), base) == nullptr || pids_[process - 1] == 0) {
    ++faults_;
    return;
  }
  const iovec local{const_cast<std::byte*>(write.bytes.data()), write.bytes.size()};
  const iovec remote{reinterpret_cast<void*>(write.address & kAddressMask), write.bytes.size()};
  const auto whole = static_cast<ssize_t>(write.bytes.size());
  if (process_vm_writev(pids_[process - 1], &local, 1, &remote, 1, 0) != whole) ++faults_;
}

std::vector<std::uint32_t> ProgramMemory::apply(TimePs now, std::uint32_t process) {
  std::vector<std::uint32_t> touched = std::exchange(touched_, {});
  for (auto next = writes_.begin(); next != writes_.end();) {
    const auto owner = static_cast<std::uint32_t>(next->second.address >> kAddressBits);
    if (next->first > now) {
      if (process == 0) break;
      if (owner != process) {
        ++next;
        continue;
      }
    }
    write_now(next->second);
    touched.push_back(owner);
    if (spare_.size() < kMostSpare) spare_.push_back(std::move(next->second.bytes));
    next = writes_.erase(next);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

}  // namespace mrc
