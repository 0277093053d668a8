// SPDX-License-Identifier: BSD-3-Clause
// The epochs of windows in which only the members of a group take part (MPI 3.1, section 11.5.2), as
// one process sees them: to whom its calls say something, and of whom they may wait to hear.
//
//   MPI_Win_post       tells each origin that it may access the window
//   MPI_Win_start      may wait for that, of each target
//   MPI_Win_complete   waits for it if the start did not, and tells each target that it has ended
//   MPI_Win_wait       waits for that, of each origin; so does a test that succeeds
//
// A completion that waits for a late post tells nobody before: a target that waits for it waits, in
// the end, for another target.
//
// What one process tells another is a notice. The n-th of a kind from one process to another on a
// window is the n-th of which the other hears, because the standard pairs their epochs in order. A
// process that is origin and target itself tells itself nothing.
//
// Threading: none. Memory: the groups of open epochs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "mpi/meaning.h"
#include "trace/join/channels.h"

namespace fathom::analysis {

enum class NoticeKind : std::uint8_t { kPostToStart, kPostToComplete, kComplete };
inline constexpr std::int32_t kNoticeKinds = 3;

// A window, as all its processes name it.
struct WindowName {
  std::int32_t communicator = -1;
  std::uint32_t number = 0;
};

// Where notices of one kind go from `source`, a world rank, to another process.
constexpr trace::Channels::Key notice_channel(const WindowName& window, NoticeKind kind,
                                              std::int32_t source) {
  return {window.communicator * kNoticeKinds + static_cast<std::int32_t>(kind), source,
          static_cast<std::int32_t>(window.number)};
}

// One end of a notice, with the world rank of the other process.
struct NoticeEnd {
  NoticeKind kind = NoticeKind::kPostToStart;
  std::int32_t peer = -1;
};

class Epochs {
 public:
  explicit Epochs(std::int32_t rank) : rank_(rank) {}

  // A call is entered that does something in an epoch of the window with this handle.
  void entered(mpi::Epoch does, std::uint64_t window);
  // The open call was given this member of a group. Returns what it tells that process.
  std::vector<NoticeEnd> given(mpi::Epoch does, std::uint64_t window, std::int32_t member);

  struct AtLeave {
    std::vector<NoticeEnd> heard;  // what it may have waited for
    std::vector<NoticeEnd> told;   // after that
  };
  // The call is left; a test, only if it succeeded.
  AtLeave left(mpi::Epoch does, std::uint64_t window);

  void clear() { windows_.clear(); }

 private:
  struct Groups {
    std::vector<std::int32_t> targets;  // of the access that has begun
    std::vector<std::int32_t> origins;  // to which the window is exposed
  };

  std::int32_t rank_;
  base::FlatMap<std::uint64_t, Groups> windows_;  // by handle
};

}  // namespace fathom::analysis
