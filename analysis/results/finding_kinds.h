// SPDX-License-Identifier: BSD-3-Clause
// Every kind of finding: its stable name, which analysis finds it, and what it means in a line. The
// only list of them: `fathom analyze --list` prints it, and docs/findings.md has an example of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace fathom::analysis {

enum class FindingKind : std::uint8_t {
  kLoadImbalance,
  kDelay,
  kSlowCall,
  kBusyMaster,
  kIdleMaster,
  kStartUp,
  kSmallMessagePressure,
  kSmallMessageOverhead,
  kRankTrafficImbalance,
  kCommunicationImbalance,
  kCollectiveRootBottleneck,
  kLinkHotspot,
  kSynchronizationHeavy,
  kGlobalCollectiveHeavy,
  kLateSender,
  kLateReceiver,
  kLateBroadcaster,
  kEarlyReduceArrival,
  kBarrierArrivalSkew,
  kBarrierImbalance,
  kCompletionOverhead,
};

struct FindingKindRow {
  FindingKind kind;
  const char* name;
  const char* analysis;
  const char* meaning;  // of "others wait, because …"
};

inline constexpr FindingKindRow kFindingKinds[] = {
    {FindingKind::kLoadImbalance, "load-imbalance", "wait-states",
     "others wait for ranks that compute longer than the mean rank"},
    {FindingKind::kDelay, "delay", "wait-states",
     "others wait for ranks that come late, though they do not compute more than the others"},
    {FindingKind::kSlowCall, "slow-call", "wait-states",
     "others wait for ranks that spend the time inside an MPI call, without waiting there"},
    {FindingKind::kBusyMaster, "busy-master", "wait-states",
     "ranks wait for their turn at the one rank that answers them all"},
    {FindingKind::kIdleMaster, "idle-master", "wait-states",
     "the one rank that answers all others waits while they work"},
    {FindingKind::kStartUp, "start-up", "wait-states",
     "others wait for ranks that are still in MPI_Init"},
    {FindingKind::kSmallMessagePressure, "small-message-pressure", "traffic-issues",
     "most messages are small"},
    {FindingKind::kSmallMessageOverhead, "small-message-overhead", "traffic-issues",
     "small messages carry a large part of the bytes"},
    {FindingKind::kRankTrafficImbalance, "rank-traffic-imbalance", "traffic-issues",
     "few ranks send and receive most of the bytes"},
    {FindingKind::kCommunicationImbalance, "communication-imbalance", "traffic-issues",
     "one rank sends or receives much more than the mean rank"},
    {FindingKind::kCollectiveRootBottleneck, "collective-root-bottleneck", "traffic-issues",
     "one rank is the root of nearly all of a rooted collective's traffic"},
    {FindingKind::kLinkHotspot, "link-hotspot", "traffic-issues",
     "one pair of ranks exchanges a large part of the bytes"},
    {FindingKind::kSynchronizationHeavy, "synchronization-heavy", "traffic-issues",
     "a large part of the messages belongs to barriers"},
    {FindingKind::kGlobalCollectiveHeavy, "global-collective-heavy", "traffic-issues",
     "most bytes move in collectives in which every rank exchanges data"},
    {FindingKind::kLateSender, "late-sender", "issues", "receives wait for late sends"},
    {FindingKind::kLateReceiver, "late-receiver", "issues", "sends wait for late receives"},
    {FindingKind::kLateBroadcaster, "late-broadcaster", "issues",
     "ranks wait for the root of broadcasts"},
    {FindingKind::kEarlyReduceArrival, "early-reduce-arrival", "issues",
     "ranks are in a reduction before its root"},
    {FindingKind::kBarrierArrivalSkew, "barrier-arrival-skew", "issues",
     "ranks arrive at barriers far apart"},
    {FindingKind::kBarrierImbalance, "barrier-imbalance", "issues",
     "the same rank is the last at most barriers"},
    {FindingKind::kCompletionOverhead, "completion-overhead", "issues",
     "there are as many waits and tests as messages"},
};

constexpr const char* name_of(FindingKind kind) {
  return kFindingKinds[static_cast<std::size_t>(kind)].name;
}

namespace detail {
constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kFindingKinds); ++i) {
    if (static_cast<std::size_t>(kFindingKinds[i].kind) != i) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::in_order());

}  // namespace fathom::analysis
