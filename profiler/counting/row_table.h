// SPDX-License-Identifier: BSD-3-Clause
// Rows by key: the hot data structure of the profiler. A row is plain memory with a member `key`.
//
// A dense array of rows in order of first use, and an open-addressing index of 32-bit positions
// over it. Rows never move, so pointers to them stay valid. Both arrays live in reserved address
// space, so neither a new key nor a larger index allocates, locks or calls the kernel (except for
// page faults when memory is first touched).
//
// Invariants: (1) index entries are 0 (empty) or position + 1; (2) the index is at most half full;
//             (3) an index of n entries occupies [n, 2n) of its array, so no two sizes overlap.
// Threading: one writer at a time. A reader that interrupts it (a signal handler) sees complete
// older rows and possibly one half-written row, never a wild pointer.
#pragma once

#include <cstdint>

#include "base/reserved_array.h"
#include "profile/rows.h"

namespace fathom::profiler {

inline std::uint64_t hash_of(std::uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 32; }
inline std::uint64_t hash_of(const profile::CallKey& key) {
  return hash_of(key.return_address ^ std::uint64_t{key.communicator} << 48 ^
                 std::uint64_t{key.phase} << 32);
}

// What readers of shared rows know them by.
constexpr std::uint32_t kind_of(profile::Section section) {
  return static_cast<std::uint32_t>(section);
}

template <typename Row>
class RowTable {
 public:
  using Key = decltype(Row::key);

  // False if the address space cannot be reserved. `shared`: where the rows are to lie instead of in
  // private memory, for readers who know them by `kind`.
  bool open(std::size_t max_rows, base::SharedMemory* shared = nullptr, std::uint32_t kind = 0) {
    if (!rows_.reserve(max_rows, shared, kind) || !index_.reserve(max_rows * 4)) return false;
    mask_ = kFirstIndexSize - 1;
    return true;
  }

  // The row of this key, or nullptr if there is none.
  Row* find(Key key) {
    const std::uint32_t* index = index_.data() + mask_ + 1;
    for (std::uint64_t slot = hash_of(key);; ++slot) {
      const std::uint32_t position = index[slot & mask_];
      if (position == 0) return nullptr;
      Row& row = rows_[position - 1];
      if (row.key == key) return &row;
    }
  }

  // Adds a zero row for a key that find() did not find; nullptr if the table is full.
  Row* add(Key key) {
    if (rows_.size() * 2 >= mask_ && !grow_index()) return nullptr;
    Row* row = rows_.append();
    if (row == nullptr) return nullptr;
    row->key = key;
    insert(key, static_cast<std::uint32_t>(rows_.size()));
    return row;
  }

  const base::ReservedArray<Row>& rows() const { return rows_; }
  Row& row(std::size_t position) { return rows_[position]; }

  // Forgets everything. Cold.
  void clear() {
    std::uint32_t* index = index_.data();
    for (std::uint64_t i = 0; i < 2 * (mask_ + 1); ++i) index[i] = 0;
    rows_.clear();
    mask_ = kFirstIndexSize - 1;
  }

 private:
  static constexpr std::uint64_t kFirstIndexSize = 256;

  void insert(Key key, std::uint32_t position) {
    std::uint32_t* index = index_.data() + mask_ + 1;
    std::uint64_t slot = hash_of(key);
    while (index[slot & mask_] != 0) ++slot;
    index[slot & mask_] = position;
  }

  bool grow_index() {
    const std::uint64_t size = 2 * (mask_ + 1);
    if (2 * size > index_.capacity()) return false;
    mask_ = size - 1;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      insert(rows_[i].key, static_cast<std::uint32_t>(i + 1));
    }
    return true;
  }

  base::ReservedArray<Row> rows_;
  base::ReservedArray<std::uint32_t> index_;
  std::uint64_t mask_ = 0;
};

using CellTable = RowTable<profile::CellRow>;

}  // namespace fathom::profiler
