// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI 4.0, chapter 4) as Open MPI sends it, since 5.0: whose the messages
// are that it exchanges on communicators of its own (ompi/mca/part/persist/part_persist.h).
//
// Each partition is a persistent message of the PML on a hidden duplicate of MPI_COMM_WORLD, between
// world ranks, with a tag that the sender counts up from 0. The library makes these requests in its
// progress engine, once both sides have agreed: the sender has announced itself with one message on
// the program's communicator, with the program's tag, and the receiver has answered on a second
// hidden duplicate. Those two messages are the library's; the partitions have a class of their own
// and count on the communicator that the program named.
//
// The request of a partition does not say which call it belongs to, but its buffer does: that of the
// first partition is the program's buffer, and the others follow at once, with ascending tags. If the
// program has several operations to one process on one buffer, they are taken in their order.
//
// Threading: any thread; everything takes a lock. Memory: 72 bytes for each operation initialised.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profile/rows.h"
#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {

class Partitioned {
 public:
  // Whether the program has initialised an operation: only then has the library those communicators.
  static bool in_use() { return in_use_.load(std::memory_order_relaxed); }

  static constexpr std::size_t kNone = ~std::size_t{0};

  // MPI_Psend_init (kSent) or MPI_Precv_init is called. `peer`: rank on `comm`. Returns the operation's
  // number, or kNone.
  static std::size_t initialised(profile::Direction direction, Live& comm, int peer, int tag,
                                 const void* buffer, std::uint64_t bytes) noexcept;
  // The call has returned this request of the program.
  static void made(std::size_t operation, const void* request) noexcept;
  // The library makes the request of a partition on its own communicator, which `hidden` is then
  // known to be.
  [[gnu::noinline]] static void requested(profile::Direction direction, Live& hidden, int peer,
                                          int tag, const void* buffer,
                                          std::uint64_t bytes) noexcept;

  // Where a message of the class counts: on the program's communicator, if its operation is known.
  struct Place {
    std::uint32_t kind;
    const void* group;
    int peer;
    const void* request = nullptr;  // of the program, for its operation
  };
  [[gnu::noinline]] static Place place_of(profile::Direction direction, const Live& hidden,
                                          int peer, int tag) noexcept;

 private:
  static inline std::atomic<bool> in_use_{false};
};

}  // namespace fathom::profiler
