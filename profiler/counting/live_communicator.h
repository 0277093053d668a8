// SPDX-License-Identifier: BSD-3-Clause
// A live communicator: its kind in the registry, and the state that decides the class of a message
// on it.
//
// The class of a message is that of the MPI call that caused it. Both sides find it by one rule:
//   tag >= 0        point-to-point (library: tags with which constructors send, and the message
//                   that sets up partitioned communication); partitioned on the communicator
//                   that the library keeps for it (partitioned.h)
//   -2 .. -6        Fathom's own, never counted
//   -7 .. -9        the library's: since Open MPI 5.0, agreeing on a communicator's index
//   -10 .. -26      a blocking collective: the call active on this communicator; if none is,
//                   the name in the tag (coll_tags.h)
//   -27 .. -2^30    a non-blocking or persistent collective: the call that reserved this tag
//                   (ompi_coll_base_nbc_reserve_tags); otherwise the active blocking call, if
//                   it began before the tag was given out; otherwise the library's own. Since
//                   5.0 the first few are the library's: fault tolerance, UCC
//   below           a neighbourhood collective: the active call
// Communicators made inside files have one fixed class; those that a collective makes for itself
// (coll/han) follow the call on the communicator that they serve. On the one inside a window, tags
// >= 0 are one-sided: only osc/pt2pt sends them, some before the receiver has left MPI_Win_create.
// For collectives on it, the window counts as the active call (WindowCall in hooks.h): all members
// make and free it together, so both sides find the same class.
//
// Threading: MPI lets only one thread at a time call collectives on a communicator, so each field
// has one writer; readers are the callbacks of any thread, and every field is atomic. classify() is
// hot. Only library_tags has several writers, which take turns: MPI_Comm_create_group is not
// collective on its parent.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "classes.h"
#include "profiler/counting/counter.h"
#include "profiler/counting/tag_runs.h"
#include "rankmap/layouts/all.h"

namespace fathom::live {
struct QueuePlace;
}

namespace fathom::profiler {

inline constexpr ClassId kNoClass = 127;
inline constexpr ClassId kIgnored = 126;
// One writer at a time for each field, and no field tells about another.
inline constexpr auto relaxed = std::memory_order_relaxed;

struct alignas(64) Live {
  const void* comm = nullptr;
  const void* group = nullptr;  // the group that ranks in sends and receives refer to
  std::uint32_t kind = 0;
  // Rows of recently counted messages (counting.h), each in a place chosen by its peer. Only used
  // while one thread at a time counts.
  struct alignas(32) Remembered {  // two to a cache line
    std::uint64_t who = ~std::uint64_t{0};
    std::uint64_t bytes = 0;
    profile::CellRow* cell = nullptr;
    profile::CellRow* size = nullptr;

    static std::uint64_t name(std::int32_t peer, ClassId class_id, std::uint64_t epoch) {
      return epoch | std::uint64_t{class_id} << 32 | static_cast<std::uint32_t>(peer);
    }
  };
  static constexpr std::uint32_t kPlaces =
      8;  // the partners of a recursive doubling over 8 ranks do not collide
  Remembered remembered[2][kPlaces];
  Remembered& remembered_for(profile::Direction direction, int peer) {
    const auto number = static_cast<std::uint32_t>(peer);
    return remembered[static_cast<int>(direction)][(number ^ number >> 3) % kPlaces];
  }
  std::atomic<std::uint32_t> program_class{kPointToPoint};  // of tags >= 0; kNoClass: it depends
  std::atomic<std::uint32_t> fixed_class{kNoClass};         // of any tag < 0
  std::atomic<std::uint32_t> blocking_class{kNoClass};      // of the active call
  std::atomic<std::int32_t> blocking_first_tag{0};  // tags given out since it began are <= this
  std::atomic<std::uint32_t> nonblocking_class{kNoClass};  // of the call now starting one
  std::atomic<std::int32_t> nonblocking_first_tag{0};
  std::atomic<Live*> served{nullptr};  // its calls decide the class here; usually this one
  TagRuns nonblocking_tags;
  TagRuns persistent_tags;
  std::uint64_t modules_seen[2] = {0, 0};            // bit per class: its module has been looked up
  std::uint32_t bypassing_module[kClassCount] = {};  // 0: messages go through the PML
  bool retired = false;  // the program freed it; the library may still finish with it
  bool user_visible = false;
  bool is_world = false;  // MPI_COMM_WORLD
  // Whom this process exchanges with in its neighbourhood collectives: a number in NeighborLists.
  static constexpr std::int32_t kNotAsked = -2;
  std::int32_t neighbors = kNotAsked;
  // Sets the class of tags below 0 (kNoClass: by tag and call) and that of the others.
  void set_classes(ClassId hidden, ClassId program);
  // The tags with which active constructors send here; -1: none.
  static constexpr int kLibraryTags = 64;
  std::atomic<std::int32_t> library_tags[kLibraryTags];

  // Between add and remove, messages with this tag are the library's. False if all places are taken
  // by other threads; the messages then stay the program's.
  bool add_library_tag(int tag);
  void remove_library_tag(int tag);
  bool has_library_tag(int tag) const {
    for (const auto& known : library_tags) {
      if (known.load(relaxed) == tag) return true;
    }
    return false;
  }

  // Messages with which the library sets up partitioned communication, still to come: one to or from
  // `peer`, with the program's tag, as long as the structure that it carries.
  struct Setup {
    profile::Direction direction;
    int peer;
    int tag;
    bool operator==(const Setup&) const = default;
  };
  std::vector<Setup> setups;  // under the lock of library_tags
  void expect_setup(profile::Direction direction, int peer, int tag);
  [[gnu::noinline]] bool is_setup(profile::Direction direction, int peer, int tag,
                                  std::uint64_t bytes) const;
  [[gnu::noinline]] void setup_is_over(profile::Direction direction, int peer, int tag);

  void settle_program_class();

  // Of readers of a running job (queue_places.h).
  live::QueuePlace* queue_place = nullptr;
  bool is_left_out_of_queues = false;

  void* peruse_handles = nullptr;  // Open MPI's array, reused by this object
  // Whether Open MPI reports the begin and end of transfers here (source_peruse.cpp). Changes only where
  // a single thread communicates.
  struct TransferEvents {
    void* handles[2] = {};  // of XFER_BEGIN and XFER_END
    bool on = true;
    bool stays_on = false;
    std::uint32_t sends = 0;  // requests whose end is still to be reported
    std::uint32_t quiet = 0;  // receives since anything needed these events
  } transfer_events;

  // Prepares for another communicator; keeps what belongs to peruse_handles.
  void reset();
};

inline ClassId blocking_class_of_tag(int tag) {
  return kAllgather + static_cast<ClassId>(openmpi::kTagAllgather - tag);
}

inline constexpr int kLowestOwnTag = -6;  // of gather.h

[[gnu::noinline]] ClassId classify_hidden(const Live& live, int tag);

// kIgnored, or the class of a message with this tag.
inline ClassId classify(const Live& live, int tag) {
  if (tag >= 0) {
    const ClassId program = live.program_class.load(relaxed);
    if (program != kNoClass) [[likely]]
      return program;
    return live.has_library_tag(tag) ? kLibrary : kPointToPoint;
  }
  const ClassId fixed = live.fixed_class.load(relaxed);
  return fixed != kNoClass ? fixed : classify_hidden(live, tag);
}

// The class of a message of which all is known. Only where classify() is not yet exact: while the
// library sets up partitioned communication on the communicator.
inline ClassId classify(const Live& live, profile::Direction direction, int tag, int peer,
                        std::uint64_t bytes) {
  const ClassId class_id = classify(live, tag);
  if (tag < 0 || live.program_class.load(relaxed) != kNoClass) [[likely]]
    return class_id;
  return class_id == kPointToPoint && live.is_setup(direction, peer, tag, bytes) ? kLibrary
                                                                                 : class_id;
}

// The same if a few loads decide it, else kNoClass.
inline ClassId usual_class(const Live& live, int tag) {
  if (tag >= 0) return live.program_class.load(relaxed);
  const bool of_blocking_call = tag <= openmpi::kTagAllgather && tag >= openmpi::kTagScatterv &&
                                live.fixed_class.load(relaxed) == kNoClass;
  if (!of_blocking_call) return kNoClass;
  return live.served.load(relaxed)->blocking_class.load(relaxed);
}

}  // namespace fathom::profiler
