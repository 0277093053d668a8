// SPDX-License-Identifier: BSD-3-Clause
// The pass that joins a job (joined_job.h): reads the traces of the own processes one window of time after
// the other, and passes on what each window means for the processes of others.
//
// For joined_job.cpp only. Collective over the transport. Memory: what is in flight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/engine/collectives.h"
#include "analysis/engine/joined_job.h"
#include "analysis/engine/notices.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/step_recorder.h"
#include "analysis/engine/windows/lock_order.h"

namespace fathom::analysis {

enum ParcelKind : char {
  kSent,
  kNoticeSent,
  kLoss,
  kMatched,
  kPart,
  kPartJoined,
  kClosed,
  kLockCall,
  kLockEdge
};

// What each batch of parcels ends with.
struct BatchEnd {
  std::uint64_t known_until_ns = 0;  // as LockOrder::settle() needs it
  std::uint32_t idle = 0;            // 1: nothing more is to come
  std::uint32_t locks = 0;           // 1: there are calls at locked windows
};

struct RoutedSend {
  SentMessage message;
  std::uint32_t process = 0;
};

// The pass itself. What one window produces for other analysis processes travels while the next
// window is read.
class Joiner {
 public:
  Joiner(JoinedJob& job, const JoinOptions& options, Mapping mapping);
  base::Status run();

 private:
  static constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};

  struct Lane {
    Lane(std::uint32_t number, trace::EventCursor events)
        : process(number), cursor(std::move(events)) {}
    std::uint32_t process;
    trace::EventCursor cursor;
    std::optional<StepRecorder> recorder;
    trace::Event waiting;
    bool has_waiting = false, ended = false;
    std::uint64_t events = 0;
    std::uint64_t now_ns = 0;  // of the last event

    // As LockOrder::settle() needs it.
    std::uint64_t known_until_ns() const {
      if (ended || !recorder) return kAtTheEnd;
      return recorder->locks_known_until(has_waiting ? waiting.time_ns : now_ns);
    }
  };

  std::uint64_t events_per_window() const;
  void go_on(Lane& lane, std::uint64_t until_ns);
  void end_lane(Lane& lane);
  void route();
  void deliver(std::uint32_t process, const SentMessage& message);
  void apply(const SourceLoss& loss);
  void route_notices();
  void apply_notices();
  void route_locks();
  void settle_locks(std::uint64_t until_ns);
  void settle_last_locks();
  void apply(const LockEdge& edge);
  std::uint64_t known_until_ns() const;
  bool take_batch(const Transport::Bytes& bytes);
  void apply(const Channels::Joined& joined);
  void apply_both(const trace::JoinedEnds& joined);
  void apply_end(const trace::JoinedEnds& joined, bool sender);
  void apply(const JoinedCollective& joined);
  std::uint32_t owner_of_communicator(std::int32_t communicator) const {
    return job_.mapping_[job_.facts_.members[static_cast<std::size_t>(communicator)].front()];
  }
  void take_part(const Participation& part);
  void open(Received received);
  base::Status sum_up();

  JoinedJob& job_;
  const JoinOptions& options_;
  Transport& transport_;
  Parcels parcels_;
  Collectives collectives_;
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<Channels>> channels_;  // by process; nullptr for those of others
  std::optional<Notices> notices_;
  std::vector<AccessEnd> access_ends_;  // of own processes
  LockOrder lock_order_;
  std::vector<LockEdge> lock_edges_;
  bool locks_ = false;            // of any process
  bool announced_locks_ = false;  // and all analysis processes know
  // What all other analysis processes know, as of the last exchange.
  std::uint64_t others_until_ns_ = 0;
  Outgoing outgoing_;
  Channels::Joined joined_, joined_notices_;
  Collectives::Joined joined_parts_;
  std::vector<trace::Event> batch_;
  std::uint64_t per_window_;
};

}  // namespace fathom::analysis
