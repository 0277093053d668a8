// SPDX-License-Identifier: BSD-3-Clause
// The memory that a process of a job shares with its readers: layout, version 1.
//
// One memory file (memfd "fathom-live") per process, which only its user can open, through
// /proc/PID/fd/N, and which vanishes with the last process that has it open. Native byte order. From
// its beginning: PageHeader, with a directory of regions; each region is an array that its process
// fills from the front. Only the first `provided_bytes` of a region's address space have memory, in
// steps of kPageStep. What has not been written is zero, so an array ends at the first element that
// is zero throughout.
//
// Regions of the kinds of profile::Section hold just the rows that the process would leave in a file
// (profile/rows.h). So a reader that has the memory file open has the counts of a process that was killed.
//
// Threading: each region, and each ThreadLine, has one writer at a time. Readers are other processes,
// which copy what they read (pread never faults, and does not give memory to what has none), then
// check it: nothing here can be trusted, as any process of the user may make such a file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profile/rows.h"

namespace fathom::live {

inline constexpr char kPageName[] = "fathom-live";
inline constexpr char kPageMagic[8] = {'F', 'T', 'H', 'M', 'L', 'I', 'V', 'E'};
inline constexpr std::uint32_t kPageVersion = 1;
inline constexpr std::size_t kPageStep = 64 * 1024;

// Kinds of regions besides those of profile::Section.
inline constexpr std::uint32_t kThreadLines = 0x100;    // ThreadLine
inline constexpr std::uint32_t kChannelCounts = 0x101;  // ChannelRow
inline constexpr std::uint32_t kQueueFacts = 0x102;     // QueueFacts, one
inline constexpr std::uint32_t kQueuePlaces = 0x103;    // QueuePlace

// A region's element size is that of the record; text has elements of one byte.
struct Region {
  std::uint32_t kind;
  std::uint32_t element_bytes;
  std::uint64_t offset;          // in the file; a multiple of kPageStep
  std::uint64_t capacity_bytes;  // of the address space
  std::atomic<std::uint64_t> provided_bytes;
};
static_assert(sizeof(Region) == 32);

inline constexpr std::size_t kMostRegions = 1024;
inline constexpr std::size_t kRunBytes = 4096;

enum class PageState : std::uint32_t { kStarting, kRunning, kFinalizing, kEnded };

struct PageHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t process_started;  // field 22 of /proc/PID/stat: tells one PID from its next use
  profile::RowsHeader rows;       // as of MPI_Init; end and losses are not filled in
  std::atomic<PageState> state;
  std::atomic<std::uint32_t> region_count;
  std::atomic<std::uint32_t> private_regions;  // that found no place here: counts are incomplete
  std::uint32_t reserved;
  // Messages that found no place in the rows, and those of whose communicator nothing is known.
  std::atomic<std::uint64_t> lost_messages, unknown_messages;
  std::atomic<std::uint64_t> channels_left_out;  // messages on channels without a place
  char run[kRunBytes];                           // run directory, absolute; ends with a zero
  Region regions[kMostRegions];
};
static_assert(sizeof(PageHeader) == 8 + 8 + 8 + 56 + 16 + 24 + kRunBytes + 32 * kMostRegions);
static_assert(sizeof(PageHeader) <= kPageStep);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::uint32_t kNoCommunicator = profile::kNoCommunicator;
inline constexpr std::int32_t kNoRank = -0x7fffffff;  // the call has no peer, tag or root

// What a blocking call, or a call that waits, waits for.
struct PendingLine {
  std::uint32_t kind;          // RequestKind of job_state.h
  std::uint32_t communicator;  // position among the communicator rows, or kNoCommunicator
  std::int32_t peer;  // rank in the group that messages refer to; negative: MPI's wildcards
  std::int32_t tag;
  std::uint64_t bytes;
};
static_assert(sizeof(PendingLine) == 24);
inline constexpr std::size_t kMostPendingLines = 32;

// What one thread does. `sequence` is odd while the thread writes the rest; a reader copies the line
// between two readings of it.
struct alignas(64) ThreadLine {
  std::atomic<std::uint32_t> sequence;
  std::uint32_t waits_for_all;
  std::atomic<std::uint64_t> calls;  // begun so far
  std::atomic<std::uint64_t> site;   // return address of the present or last call; 0: not known
  std::uint64_t since_ns;            // CLOCK_MONOTONIC_COARSE
  char function[40];                 // empty: the program computes
  std::uint32_t communicator;
  std::int32_t root;  // rank in the communicator
  std::uint64_t bytes;
  std::uint64_t collective;
  std::uint32_t pending_count;
  std::uint32_t is_used;  // 1, so that the line is not zero
  std::uint64_t pending_left_out;
  PendingLine pending[kMostPendingLines];
};
static_assert(sizeof(ThreadLine) == 896);

struct ChannelKey {
  std::uint32_t communicator = 0;
  std::int32_t peer = 0;  // rank in the group that messages refer to
  std::int32_t tag = 0;
  std::uint32_t is_used = 0;  // 1
  bool operator==(const ChannelKey&) const = default;
};

// The program's point-to-point messages with one peer on one communicator with one tag.
struct ChannelRow {
  ChannelKey key;
  std::uint64_t sent, sent_bytes;
  std::uint64_t received, received_bytes;
};
static_assert(sizeof(ChannelRow) == 48);

// Where the process's own memory has the queues of Open MPI's pml/ob1, for readers that look there
// (live/queue_lengths.h); only of a process that has proved it. A communicator's part of the PML
// (mca_pml_ob1_comm_t) has, at these offsets, its receives from any source, a pointer to its peers, and
// their number; a peer (mca_pml_ob1_comm_proc_t) its other receives and its unexpected messages. Both
// kinds of objects, and the lists in them, begin with a pointer to their class; a list has its length,
// and its end, which is followed by its first item. An item has the next one, a message its tag. Messages
// with tags from `lowest_own_tag` to -1 are Fathom's.
struct QueueFacts {
  std::uint64_t communicator_class, list_class;  // addresses
  std::uint32_t wild_receives, peers, peer_count;
  std::uint32_t receives, unexpected;
  std::uint32_t length, end, next, tag;
  std::int32_t lowest_own_tag;
  std::atomic<std::uint32_t> left_out;  // communicators without a place
  std::uint32_t is_used;                // 1
};
static_assert(sizeof(QueueFacts) == 64);

struct QueuePlace {
  std::atomic<std::uint64_t> queues;  // address of the communicator's part; 0: it has been freed
  std::uint64_t is_used;              // 1
};
static_assert(sizeof(QueuePlace) == 16);

}  // namespace fathom::live
