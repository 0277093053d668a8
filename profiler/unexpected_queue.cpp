#include "profiler/unexpected_queue.h"

#include <string_view>

#include "profiler/mpi_library.h"
#include "profiler/source_pml.h"

namespace fathom::profiler {
namespace {

using rankmap::field;

std::string_view class_name(const void* object) {
  return field<const char*>(field<const void*>(object, openmpi::kObjectClass),
                            openmpi::kClassName);
}

bool is_list(const char* object) {
  static const void* const list_class = find_variable_in_mpi("opal_list_t_class");
  return list_class != nullptr && field<const void*>(object, openmpi::kObjectClass) == list_class;
}

// For each peer that has sent something on this communicator, or was sent something: f(rank, its
// mca_pml_ob1_comm_proc_t). False if one of them is not what it should be.
template <typename F>
bool for_each_peer(const void* comm, F&& f) {
  const auto* queues = field<const char*>(comm, openmpi::kCommPml);
  if (selected_pml() != "ob1" || queues == nullptr ||
      class_name(queues) != "mca_pml_ob1_comm_t" ||
      !is_list(queues + openmpi::kOb1WildReceives)) {
    return false;
  }
  const auto* peers = field<const char* const*>(queues, openmpi::kOb1Peers);
  const auto count = field<std::size_t>(queues, openmpi::kOb1PeerCount);
  if (count != static_cast<std::size_t>(rankmap::group_size(rankmap::remote_group(comm)))) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (peers[i] == nullptr) continue;
    if (!is_list(peers[i] + openmpi::kOb1Unexpected)) return false;
    f(static_cast<int>(i), peers[i]);
  }
  return true;
}

// Short messages come whole, behind their header; long ones are announced by a header with their
// length.
std::uint64_t length_of(const void* message) {
  if (field<std::uint8_t>(message, openmpi::kOb1MessageType) != openmpi::kOb1TypeMatch) {
    return field<std::uint64_t>(message, openmpi::kOb1MessageLength);
  }
  return field<std::uint64_t>(message, openmpi::kOb1FirstSegmentLength) -
         openmpi::kOb1MatchHeaderSize;
}

// How many messages have arrived so far, but for a constant: numbers are 16 bits wide.
std::uint64_t arrivals(Session& session) {
  std::uint64_t sum = 0;
  if (!session.sees_waiting_messages()) return sum;
  session.communicators().for_each([&sum](const Live& live) {
    for_each_peer(live.comm, [&sum](int, const char* peer) {
      sum += field<std::uint16_t>(peer, openmpi::kOb1ExpectedSequence);
    });
  });
  return sum;
}

}  // namespace

bool find_waiting_messages(const void* comm, std::vector<WaitingMessage>& found) {
  const auto read = [&found](int source, const char* peer) {
    const char* end = peer + openmpi::kOb1Unexpected + openmpi::kListEnd;
    for (const char* message = field<const char*>(end, openmpi::kListNext); message != end;
         message = field<const char*>(message, openmpi::kListNext)) {
      found.push_back({source, field<int>(message, openmpi::kOb1MessageTag), length_of(message)});
    }
  };
  if (for_each_peer(comm, read)) return true;
  found.clear();
  return false;
}

// Several messages arrive in one call where many wait, and the transports take turns: a hundred
// calls without one say that none is left, and last some ten microseconds. The limit is for
// processes that run without Fathom, which may send for as long as they like.
void let_messages_arrive(Session& session) {
  const auto progress = find_in_mpi_as<void (*)()>("opal_progress");
  constexpr int kMostRounds = 1000;
  std::uint64_t before = arrivals(session);
  for (int round = 0; progress != nullptr && round < kMostRounds; ++round) {
    for (int i = 0; i < 100; ++i) progress();
    const std::uint64_t now = arrivals(session);
    if (now == before) return;
    before = now;
  }
}

void count_unreceived(Session& session, const Live& live) noexcept try {
  std::vector<WaitingMessage> waiting;
  if (!session.sees_waiting_messages() || !find_waiting_messages(live.comm, waiting)) return;
  for (const WaitingMessage& message : waiting) {
    const ClassId class_id = classify(live, message.tag);
    if (class_id == kIgnored) continue;
    session.counter().record_unreceived(live.kind, class_id, live.group,
                                        static_cast<std::uint32_t>(message.source), message.bytes);
  }
} catch (...) {
  // no memory to look: what is missing stays a difference
}

}  // namespace fathom::profiler
