// An array of a fixed size whose elements are zero bytes until they are written, and take no memory until then.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>

namespace mrc {

/// Zero bytes must be a valid T. Pages that nobody wrote are not resident, and reading them does not make them so.
template <typename T>
requires(std::is_trivially_destructible_v<T>&& std::is_trivially_copyable_v<T>) class ZeroedArray {
 public:
  /// Throws std::bad_alloc where the system refuses the address space.
  explicit ZeroedArray(std::size_t size) : size_(size) {
    if (size_ == 0) return;
    void* const memory =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(memory);
    // One element that is written must not make a whole huge page resident.
    if (bytes() > kSparseBytes) madvise(memory, bytes(), MADV_NOHUGEPAGE);
  }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;
  ~ZeroedArray() {
    if (elements_ != nullptr) munmap(elements_, bytes());
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return elements_[i]; }
  const T& operator[](std::size_t i) const { return elements_[i]; }
  const T* begin() const { return elements_; }
  const T* end() const { return elements_ + size_; }

 private:
  /// Smaller arrays are dense, and huge pages make them faster.
  static constexpr std::size_t kSparseBytes = std::size_t{256} << 20;

  std::size_t bytes() const { return size_ * sizeof(T); }

  std::size_t size_;
  T* elements_ = nullptr;
};

}  // namespace mrc
