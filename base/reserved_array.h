// SPDX-License-Identifier: BSD-3-Clause
// An array that grows without allocating: address space for `capacity` elements is reserved at
// once, and memory is taken page by page as elements are appended.
//
// Elements never move, so pointers to them stay valid, and the used part can be written to a file
// as it is, even from a signal handler. append() is a store and an add, so it may run inside a
// callback of the MPI library. Threading: one writer at a time; not copyable.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fathom::base {

// Memory that other processes can read, for arrays that are not to be private.
class SharedMemory {
 public:
  // Address space for an array of elements of this size; `kind` says to readers what they are. Null
  // if there is none left.
  virtual void* take(std::size_t bytes, std::uint32_t kind, std::uint32_t element_bytes) = 0;
  // Makes at least the first `bytes` of what take() returned usable, and returns how many are.
  virtual std::size_t provide(void* taken, std::size_t bytes) = 0;

 protected:
  ~SharedMemory() = default;
};

template <typename T>
class ReservedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ReservedArray() = default;
  ReservedArray(const ReservedArray&) = delete;
  ReservedArray& operator=(const ReservedArray&) = delete;
  ~ReservedArray() { release(); }

  // False, with no change, if the address space is not available (`ulimit -v`).
  bool reserve(std::size_t capacity) {
    void* memory = mmap(nullptr, capacity * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    release();
    data_ = static_cast<T*>(memory);
    ready_ = capacity_ = capacity;
    return true;
  }

  // The same in memory that others can read, which must outlive this; in private memory if `shared` is
  // null or has no room.
  bool reserve(std::size_t capacity, SharedMemory* shared, std::uint32_t kind) {
    void* memory =
        shared == nullptr ? nullptr : shared->take(capacity * sizeof(T), kind, sizeof(T));
    if (memory == nullptr) return reserve(capacity);
    release();
    data_ = static_cast<T*>(memory);
    capacity_ = capacity;
    shared_ = shared;
    return true;
  }

  void release() {
    if (data_ != nullptr && shared_ == nullptr) munmap(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    shared_ = nullptr;
    size_ = ready_ = capacity_ = 0;
  }

  // Adds a zeroed element at the end; nullptr if the array is full.
  T* append() {
    if (size_ == ready_ && !prepare(size_ + 1)) [[unlikely]]
      return nullptr;
    return data_ + size_++;
  }

  // Makes the first `count` elements usable through data(), without adding any. False if there are
  // fewer.
  [[gnu::cold]] bool prepare(std::size_t count) {
    if (count > capacity_) return false;
    if (count > ready_)
      ready_ = std::min(shared_->provide(data_, count * sizeof(T)) / sizeof(T), capacity_);
    return count <= ready_;
  }

  // Removes all elements and zeroes their memory. Cold: touches every used page.
  void clear() {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = T{};
    size_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t ready_ = 0;  // of these `capacity_`: those that may be used; fewer only if shared
  std::size_t capacity_ = 0;
  SharedMemory* shared_ = nullptr;
};

}  // namespace fathom::base
