// SPDX-License-Identifier: BSD-3-Clause
// The counting core: adds one message to the row of its pair, class, communicator and phase.
//
// Called for every message, from the PML's entry points and from PERUSE callbacks. It never
// allocates, locks, waits, logs or calls MPI. With one thread in MPI at a time there is one set of
// tables and no atomic operation. With MPI_THREAD_MULTIPLE each call takes one of kLanes sets with
// one atomic exchange and holds it while it counts; a thread returns to its last lane, so lanes
// rarely collide. The lanes are added up at the end.
//
// Threading: record() from any thread. open(), clear() and changes of phase or pause are cold, but
// safe beside record(). for_each_lane() sees counts in flight only if other threads still
// communicate.
#pragma once

#include <atomic>
#include <cstdint>

#include "classes.h"
#include "profile/rows.h"
#include "profiler/counting/row_table.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {

using ClassId = std::uint32_t;

class Counter {
 public:
  static constexpr int kLanes = 16;
  static constexpr std::uint32_t kMaxPeers = 1u << profile::kPeerBits;
  static constexpr std::uint32_t kMaxPhases = 1u << profile::kPhaseBits;

  // `lanes`: 1 if no two threads are ever inside MPI at once. False without address space.
  // `shared`: as in RowTable.
  bool open(int lanes, std::uint32_t own_job, base::SharedMemory* shared = nullptr);

  // The rows that a message was added to; null if they must not be used again (see epoch()).
  struct Touched {
    profile::CellRow* cell = nullptr;
    profile::CellRow* size = nullptr;
  };

  // Rows that record() returned may be added to directly while the epoch is the same. Epochs are
  // multiples of kEpoch, which leaves the bits below for the caller. 0: every message has to take
  // record(), which then returns no rows.
  static constexpr std::uint64_t kEpoch = std::uint64_t{1} << 40;
  static std::uint64_t epoch() { return epoch_.load(std::memory_order_relaxed); }

  // One message of `bytes` bytes. `communicator`: position of its kind in the registry; `group`:
  // the group in which `peer` is a rank. Peers at or above kMaxPeers, and keys that no longer fit,
  // go into lost().
  Touched record(profile::Direction direction, std::uint32_t communicator, ClassId class_id,
                 const void* group, std::uint32_t peer, std::uint64_t bytes) {
    if (options_ != 0) {
      record_with_options(direction, communicator, class_id, group, peer, bytes);
      return {};
    }
    return add(lanes_[0], direction, communicator, class_id, 0, group, peer, bytes, 1);
  }

  // Many messages at once, at the end of a run; their lengths are not known.
  void record_sum(profile::Direction direction, std::uint32_t communicator, ClassId class_id,
                  const void* group, std::uint32_t peer, std::uint64_t bytes,
                  std::uint64_t messages);

  // One message that no receive has matched. In no histogram; counted even while paused.
  void record_unreceived(std::uint32_t communicator, ClassId class_id, const void* group,
                         std::uint32_t peer, std::uint64_t bytes);

  // Takes back a message of 0 bytes that turns out to have `bytes`: see source_peruse.cpp.
  [[gnu::noinline]] void retract_empty(std::uint32_t communicator, ClassId class_id,
                                       const void* group, std::uint32_t peer);

  // MPI_Pcontrol(0) and (1).
  void set_paused(bool paused) { set_option(kPaused, paused); }
  bool shared_by_threads() const { return lane_count_ > 1; }
  bool is_paused() const { return options_.load(std::memory_order_relaxed) & kPaused; }
  bool was_ever_paused() const { return was_paused_.load(std::memory_order_relaxed); }
  // 0 is "outside every phase".
  void set_phase(std::uint32_t phase) {
    phase_.store(phase, std::memory_order_relaxed);
    set_option(kPhase, phase != 0);
  }

  // The direction whose message lengths enter the histogram. Posted operations and messages to and
  // from other worlds always enter it, because only this process can count them.
  void set_size_witness(profile::Direction direction) {
    size_witness_ = direction;
    begin_epoch();
  }

  // From here on every message takes record(), because its tag matters.
  void count_each() { set_option(kEach, true); }

  // Also called from a signal handler.
  template <typename F>
  void for_each_lane(F&& f) const {
    for (int i = 0; i < lane_count_; ++i) f(lanes_[i].cells.rows(), lanes_[i].sizes.rows());
  }
  std::uint64_t lost() const { return lost_->load(std::memory_order_relaxed); }
  // From here on the number lies where others can see it.
  void keep_lost_in(std::atomic<std::uint64_t>& place) {
    place.store(lost(), std::memory_order_relaxed);
    lost_ = &place;
  }
  void clear();
  // Invalidates all remembered rows, for good.
  void stop() { epoch_.store(0, std::memory_order_relaxed); }

 private:
  struct alignas(64) Lane {
    std::atomic<bool> taken{false};
    // The row used last in each direction: most messages repeat the previous destination.
    struct {
      std::uint64_t key = ~std::uint64_t{0};
      profile::CellRow* row = nullptr;
    } recent[4], recent_size;
    CellTable cells;
    CellTable sizes;
    std::uint16_t exact_sizes[1u << profile::kClassBits] = {};
  };

  static constexpr std::uint32_t kPaused = 1, kPhase = 2, kManyLanes = 4, kEach = 8;

  [[gnu::noinline]] void record_with_options(profile::Direction, std::uint32_t communicator,
                                             ClassId, const void* group, std::uint32_t peer,
                                             std::uint64_t bytes);
  Touched add(Lane&, profile::Direction, std::uint32_t communicator, ClassId, std::uint32_t phase,
              const void* group, std::uint32_t peer, std::uint64_t bytes, std::uint64_t messages);
  profile::CellRow* add_cell(Lane&, profile::Direction, std::uint32_t communicator, ClassId,
                             std::uint32_t phase, const void* group, std::uint32_t peer,
                             std::uint64_t bytes, std::uint64_t messages);
  [[gnu::noinline]] profile::CellRow* new_cell(Lane&, std::uint64_t key, const void* group,
                                               std::uint32_t peer);
  profile::CellRow* add_size(Lane&, ClassId, std::uint64_t bytes, std::uint64_t messages);
  [[gnu::noinline]] profile::CellRow* new_size(Lane&, ClassId, std::uint64_t bytes);
  Lane& take_lane();
  void set_option(std::uint32_t option, bool on);
  void begin_epoch();

  static inline std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint64_t> last_epoch_{0};
  profile::CellRow no_size_{};  // a sink for additions that nobody reads
  std::atomic<std::uint32_t> options_{0};
  std::uint32_t own_job_ = 0;
  profile::Direction size_witness_ = profile::Direction::kReceived;
  std::atomic<std::uint32_t> phase_{0};
  int lane_count_ = 0;
  std::atomic<std::uint64_t> own_lost_{0};
  std::atomic<std::uint64_t>* lost_ = &own_lost_;
  std::atomic<bool> was_paused_{false};
  Lane lanes_[kLanes];
};

inline profile::CellRow* Counter::add_cell(Lane& lane, profile::Direction direction,
                                           std::uint32_t communicator, ClassId class_id,
                                           std::uint32_t phase, const void* group,
                                           std::uint32_t peer, std::uint64_t bytes,
                                           std::uint64_t messages) {
  const auto side = static_cast<std::uint32_t>(direction);
  const std::uint64_t key = std::uint64_t{side} << profile::kDirectionShift |
                            std::uint64_t{class_id} << profile::kClassShift |
                            std::uint64_t{phase} << profile::kPhaseShift |
                            std::uint64_t{communicator} << profile::kCommunicatorShift | peer;
  auto& recent = lane.recent[side];
  if (recent.key != key) [[unlikely]] {
    profile::CellRow* row = lane.cells.find(key);
    if (row == nullptr) row = new_cell(lane, key, group, peer);
    if (row == nullptr) return nullptr;
    recent = {key, row};
  }
  recent.row->bytes += bytes;
  recent.row->messages += messages;
  return recent.row;
}

inline Counter::Touched Counter::add(Lane& lane, profile::Direction direction,
                                     std::uint32_t communicator, ClassId class_id,
                                     std::uint32_t phase, const void* group, std::uint32_t peer,
                                     std::uint64_t bytes, std::uint64_t messages) {
  profile::CellRow* row =
      add_cell(lane, direction, communicator, class_id, phase, group, peer, bytes, messages);
  if (row == nullptr) return {};
  const bool only_here = row->peer_job != own_job_ ||
                         (class_id == kPosted && direction != profile::Direction::kInvisible);
  const bool with_size = direction == size_witness_ || only_here;
  return {row, with_size ? add_size(lane, class_id, bytes, messages) : &no_size_};
}

inline profile::CellRow* Counter::add_size(Lane& lane, ClassId class_id, std::uint64_t bytes,
                                           std::uint64_t messages) {
  const std::uint64_t key = std::uint64_t{class_id} << (profile::kSizeBits + 1) | bytes;
  if (lane.recent_size.key != key) [[unlikely]] {
    profile::CellRow* row = lane.sizes.find(key);
    if (row == nullptr) row = new_size(lane, class_id, bytes);
    if (row == nullptr) return &no_size_;
    lane.recent_size = {key, row};
  }
  lane.recent_size.row->messages += messages;
  return lane.recent_size.row;
}

}  // namespace fathom::profiler
