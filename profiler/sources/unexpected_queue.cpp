// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/unexpected_queue.h"

#include <string_view>

#include "profiler/counting/partitioned.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"

namespace fathom::profiler {
namespace {

using rankmap::field;

std::string_view class_name(const void* object) {
  return field<const char*>(field<const void*>(object, openmpi::kObjectClass), openmpi::kClassName);
}

bool is_list(const char* object) {
  static const void* const list_class = find_variable_in_mpi("opal_list_t_class");
  return list_class != nullptr && field<const void*>(object, openmpi::kObjectClass) == list_class;
}

bool is_message(const char* object) { return class_name(object) == "mca_pml_ob1_recv_frag_t"; }

// Calls f(rank, its mca_pml_ob1_comm_proc_t) for each peer with which this process has exchanged
// messages on the communicator. False if one of the structures is not of the expected class.
template <typename F>
bool for_each_peer(const void* comm, F&& f) {
  const auto* queues = field<const char*>(comm, openmpi::layout().comm_pml);
  if (selected_pml() != "ob1" || queues == nullptr || class_name(queues) != "mca_pml_ob1_comm_t" ||
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

// A short message arrives whole, after its header. A long one is announced by a header that holds
// the length.
std::uint64_t length_of(const void* message) {
  if (field<std::uint8_t>(message, openmpi::kOb1MessageType) != openmpi::kOb1TypeMatch) {
    return field<std::uint64_t>(message, openmpi::kOb1MessageLength);
  }
  return field<std::uint64_t>(message, openmpi::layout().message_first_segment_length) -
         openmpi::kOb1MatchHeaderSize;
}

// A sum that changes with each arriving message: the 16-bit sequence numbers of all peers.
std::uint64_t arrivals(ProfiledProcess& process) {
  std::uint64_t sum = 0;
  if (!process.sees_waiting_messages()) return sum;
  process.communicators().for_each([&sum](const Live& live) {
    for_each_peer(live.comm, [&sum](int, const char* peer) {
      sum += field<std::uint16_t>(peer, openmpi::kOb1ExpectedSequence);
    });
  });
  return sum;
}

// While there is one, Open MPI does not give up the processor when it finds nothing to do.
class NoYielding {
 public:
  NoYielding() {
    if (set_ != nullptr) before_ = set_(false);
  }
  ~NoYielding() {
    if (set_ != nullptr) set_(before_);
  }
  NoYielding(const NoYielding&) = delete;

 private:
  bool (*const set_)(bool) = find_in_mpi_as<bool (*)(bool)>("opal_progress_set_yield_when_idle");
  bool before_ = false;
};

}  // namespace

bool find_waiting_messages(const void* comm, std::vector<WaitingMessage>& found) {
  bool whole = true;
  const auto read = [&](int source, const char* peer) {
    const char* queue = peer + openmpi::kOb1Unexpected;
    const char* end = queue + openmpi::kListEnd;
    const char* message = field<const char*>(end, openmpi::kListNext);
    for (auto left = field<std::size_t>(queue, openmpi::kListLength); left > 0; --left) {
      if (message == nullptr || message == end || !is_message(message)) break;
      found.push_back({source, field<int>(message, openmpi::kOb1MessageTag), length_of(message)});
      message = field<const char*>(message, openmpi::kListNext);
    }
    whole &= message == end;
  };
  if (for_each_peer(comm, read) && whole) return true;
  found.clear();
  return false;
}

// One call of opal_progress may handle only some of the messages that have arrived, and not from
// every transport. A hundred calls without a new message take some ten microseconds and mean that
// none is left. Processes that run without Fathom may keep sending, so the rounds are limited.
void let_messages_arrive(ProfiledProcess& process) {
  const auto progress = find_in_mpi_as<void (*)()>("opal_progress");
  // Where ranks share cores, each call that finds nothing would let all others run first (and the
  // messages of those that are further ahead would make it go on).
  const NoYielding no_yielding;
  constexpr int kMostRounds = 1000;
  std::uint64_t before = arrivals(process);
  for (int round = 0; progress != nullptr && round < kMostRounds; ++round) {
    for (int i = 0; i < 100; ++i) progress();
    const std::uint64_t now = arrivals(process);
    if (now == before) return;
    before = now;
  }
}

void count_unreceived(ProfiledProcess& process, const Live& live) noexcept try {
  std::vector<WaitingMessage> waiting;
  if (!process.sees_waiting_messages() || !find_waiting_messages(live.comm, waiting)) return;
  for (const WaitingMessage& message : waiting) {
    constexpr auto kReceived = profile::Direction::kReceived;
    const ClassId class_id = classify(live, kReceived, message.tag, message.source, message.bytes);
    if (class_id == kIgnored) continue;
    Partitioned::Place place{live.kind, live.group, message.source};
    if (class_id == kPartitioned)
      place = Partitioned::place_of(kReceived, live, message.source, message.tag);
    process.counter().record_unreceived(place.kind, class_id, place.group,
                                        static_cast<std::uint32_t>(place.peer), message.bytes);
  }
} catch (...) {
  // no memory: the messages remain a difference between the witnesses
}

}  // namespace fathom::profiler
