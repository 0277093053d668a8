// SPDX-License-Identifier: BSD-3-Clause
// What was before the first record of a flight recorder's trace: additions to the sections of
// profile/rows.h.
//
// The n-th send of a channel belongs to the n-th receive, and the n-th collective of a member to the
// n-th of the others, so messages and collectives of a window can be joined only if it is known how
// many came before it. The rows are there if the text line "opening exact" is.
#pragma once

#include <cstdint>

namespace fathom::trace {

inline constexpr std::uint32_t kOpeningChannelSection = 17;   // OpeningChannelRow
inline constexpr std::uint32_t kOpeningSequenceSection = 18;  // OpeningSequenceRow
inline constexpr std::uint32_t kOpeningHeldSection = 19;      // OpeningHeldRow

// A channel that carried messages before. Not those of non-blocking collectives, each of which has a
// tag of its own.
struct OpeningChannelRow {
  std::uint32_t communicator;  // as in records: position of its kind
  std::uint32_t peer;          // as in records: rank in it
  std::int32_t tag;
  std::uint32_t reserved;
  std::uint64_t sent, received;
};
static_assert(sizeof(OpeningChannelRow) == 32);

inline constexpr std::uint32_t kWholeJob = ~std::uint32_t{0};

// How many operations of a communicator's sequence (mpi::Sequence) the process had entered.
struct OpeningSequenceRow {
  std::uint32_t communicator;  // kWholeJob: MPI_Init and the like
  std::uint32_t reserved;
  std::uint64_t operations;
};
static_assert(sizeof(OpeningSequenceRow) == 16);

enum class HeldState : std::uint32_t {
  kHeld = 0,
  kProbed = 1,    // the call of the probe was open: it may have taken a message or not
  kReceived = 2,  // the call that receives the message was open
};

// A message that a probe (MPI_Mprobe) had taken and that had not been received, in the order in which
// probes took those of a channel. It has its place before all that the window shows, and is not in
// `received` of its channel.
struct OpeningHeldRow {
  std::uint32_t communicator;  // as the next two, those of the probe, or of the message if known
  std::int32_t peer;           // as in calls
  std::int32_t tag;
  std::uint32_t thread;  // of an open call
  HeldState state;
  std::uint32_t reserved;
  std::uint64_t message;  // its handle; 0 of an open probe
};
static_assert(sizeof(OpeningHeldRow) == 32);

}  // namespace fathom::trace
