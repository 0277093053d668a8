// SPDX-License-Identifier: BSD-3-Clause
// What processes tell each other at the end, as bytes: values without pointers, one after the other.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace fathom::profiler {

template <typename T>
void put_value(std::vector<char>& data, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = data.size();
  data.resize(at + sizeof value);
  std::memcpy(data.data() + at, &value, sizeof value);
}

// Reads them back. The bytes must outlive it.
class Bytes {
 public:
  Bytes(const char* data, std::size_t size) : data_(data), left_(size) {}
  explicit Bytes(const std::vector<char>& data) : Bytes(data.data(), data.size()) {}

  // False at the end.
  template <typename T>
  bool get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (left_ < sizeof value) return false;
    std::memcpy(&value, data_, sizeof value);
    data_ += sizeof value;
    left_ -= sizeof value;
    return true;
  }
  const char* data() const { return data_; }  // of what is left
  std::size_t left() const { return left_; }

 private:
  const char* data_;
  std::size_t left_;
};

}  // namespace fathom::profiler
