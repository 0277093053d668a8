// SPDX-License-Identifier: BSD-3-Clause
// A hash map for hot loops: open addressing, linear probing, allocates only when it grows.
//
// Hash is called with a key and must mix well in its low bits. References are valid until the next
// insertion or removal. for_each goes in the order of the keys' hashes; results built from it
// should be sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace fathom::base {

template <typename Key, typename Value, typename Hash = WordHash>
class FlatMap {
 public:
  std::size_t size() const { return size_; }

  Value* find(const Key& key) {
    if (size_ == 0) return nullptr;
    const std::size_t slot = slot_of(key);
    return slots_[slot].used ? &slots_[slot].value : nullptr;
  }
  const Value* find(const Key& key) const { return const_cast<FlatMap*>(this)->find(key); }

  // The value at `key`; inserts one if there was none.
  Value& operator[](const Key& key) {
    if ((size_ + 1) * 3 > slots_.size() * 2) grow();
    Slot& slot = slots_[slot_of(key)];
    if (!slot.used) {
      slot.used = true;
      slot.key = key;
      slot.value = Value{};
      ++size_;
    }
    return slot.value;
  }

  // Moves later entries of the same run up, so that no tombstones are needed.
  bool erase(const Key& key) {
    if (size_ == 0) return false;
    std::size_t hole = slot_of(key);
    if (!slots_[hole].used) return false;
    for (std::size_t next = (hole + 1) & mask(); slots_[next].used; next = (next + 1) & mask()) {
      const std::size_t home = Hash{}(slots_[next].key) & mask();
      if (((next - home) & mask()) < ((next - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[next]);
      hole = next;
    }
    slots_[hole] = Slot{};
    --size_;
    return true;
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

  template <typename Function>
  void for_each(Function function) {
    for (Slot& slot : slots_) {
      if (slot.used) function(slot.key, slot.value);
    }
  }
  template <typename Function>
  void for_each(Function function) const {
    for (const Slot& slot : slots_) {
      if (slot.used) function(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool used = false;
  };

  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t slot_of(const Key& key) const {
    std::size_t slot = Hash{}(key)&mask();
    while (slots_[slot].used && !(slots_[slot].key == key)) slot = (slot + 1) & mask();
    return slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.used) slots_[slot_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace fathom::base
