// SPDX-License-Identifier: BSD-3-Clause
// Plain structs sent to other processes of the analysis in batches: one byte of kind, then the
// struct. A large struct is sent without its zeros, which may be most of it: one bit per word of 8
// bytes, then the nonzero words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/engine/transport.h"

namespace fathom::analysis {

inline constexpr std::size_t kWord = sizeof(std::uint64_t);

template <typename Parcel>
constexpr bool is_sparse() {
  return sizeof(Parcel) >= 32 * kWord && sizeof(Parcel) % kWord == 0;
}
template <typename Parcel>
constexpr std::size_t largest() {
  return sizeof(Parcel) + (is_sparse<Parcel>() ? (sizeof(Parcel) / kWord + 7) / 8 : 0);
}

// Returns the number of bytes written.
inline std::size_t put_words(const void* from, std::size_t words, char* to) {
  char* at = to + (words + 7) / 8;
  std::memset(to, 0, (words + 7) / 8);
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const char*>(from) + i * kWord, kWord);
    if (word == 0) continue;
    to[i / 8] = static_cast<char>(to[i / 8] | 1 << i % 8);
    std::memcpy(at, &word, kWord);
    at += kWord;
  }
  return static_cast<std::size_t>(at - to);
}

// Returns the number of bytes read.
inline std::size_t take_words(const char* from, std::size_t words, void* to) {
  const char* at = from + (words + 7) / 8;
  std::memset(to, 0, words * kWord);
  for (std::size_t i = 0; i < words; ++i) {
    if ((from[i / 8] >> i % 8 & 1) == 0) continue;
    std::memcpy(static_cast<char*>(to) + i * kWord, at, kWord);
    at += kWord;
  }
  return static_cast<std::size_t>(at - from);
}

class Parcels {
 public:
  explicit Parcels(std::size_t processes) : outgoing_(processes) {}

  template <typename Parcel>
  void send(std::size_t process, char kind, const Parcel& parcel) {
    static_assert(std::is_trivially_copyable_v<Parcel>);
    Transport::Bytes& bytes = outgoing_[process];
    empty_ = false;
    bytes.push_back(kind);
    if constexpr (is_sparse<Parcel>()) {
      const std::size_t at = bytes.size();
      bytes.resize(at + largest<Parcel>());
      bytes.resize(at + put_words(&parcel, sizeof parcel / kWord, bytes.data() + at));
    } else {
      const char* const begin = reinterpret_cast<const char*>(&parcel);
      bytes.insert(bytes.end(), begin, begin + sizeof parcel);
    }
  }

  bool empty() const { return empty_; }

  std::vector<Transport::Bytes> take() {
    std::vector<Transport::Bytes> all(outgoing_.size());
    all.swap(outgoing_);
    for (std::size_t i = 0; i < all.size(); ++i)
      outgoing_[i].reserve(all[i].size());  // the next will be about as large
    empty_ = true;
    return all;
  }

 private:
  std::vector<Transport::Bytes> outgoing_;
  bool empty_ = true;
};

// Unpacks what one process sent.
class Received {
 public:
  explicit Received(const Transport::Bytes& bytes) : Received(bytes.data(), bytes.size()) {}
  Received(const char* begin, std::size_t size) : at_(begin), end_(begin + size) {}

  bool more() const { return at_ != end_; }
  char kind() { return *at_++; }
  template <typename Parcel>
  Parcel take() {
    Parcel parcel;
    if constexpr (is_sparse<Parcel>()) {
      at_ += take_words(at_, sizeof parcel / kWord, static_cast<void*>(&parcel));
    } else {
      std::memcpy(static_cast<void*>(&parcel), at_, sizeof parcel);
      at_ += sizeof parcel;
    }
    return parcel;
  }

 private:
  const char* at_;
  const char* end_;
};

// All rows at process 0, in the order of the processes; nothing elsewhere.
template <typename Row>
std::vector<Row> gathered(Transport& transport, const std::vector<Row>& rows) {
  static_assert(std::is_trivially_copyable_v<Row>);
  const char* begin = reinterpret_cast<const char*>(rows.data());
  std::vector<Row> all;
  for (const Transport::Bytes& bytes :
       transport.gather({begin, begin + rows.size() * sizeof(Row)})) {
    const std::size_t count = bytes.size() / sizeof(Row), before = all.size();
    all.resize(before + count);
    if (count > 0) std::memcpy(static_cast<void*>(all.data() + before), bytes.data(), bytes.size());
  }
  return all;
}

}  // namespace fathom::analysis
