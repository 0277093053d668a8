// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/source_peruse.h"

#include <atomic>
#include <iterator>
#include <mutex>
#include <vector>

#include "message_events.h"
#include "profiler/counting/counting.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi_library.h"

namespace fathom::profiler {
namespace {

using rankmap::field;
using rankmap::field_ref;

// The public PERUSE interface (PERUSE 1.11, peruse.h), which only builds with --enable-peruse
// install.
struct Spec {
  void* comm;
  void* buffer;
  int count;
  void* datatype;
  int peer;
  int tag;
  int operation;
};
constexpr int kOperationReceive = 1;  // PERUSE_RECV
constexpr int kPeruseSuccess = 0;     // PERUSE_SUCCESS
using openmpi::kAnyTag;
using Step = trace::TransferStep;
using EventCallback = int (*)(void* event, std::ptrdiff_t request, Spec* spec, void* parameter);

struct {
  int (*register_event)(int event, void* comm, EventCallback callback, void* parameter,
                        void** handle);
  int (*activate)(void* handle);
  int (*deactivate)(void* handle);
} peruse{};

constexpr int kSubscriptions = 10;
int event_numbers[kSubscriptions];

// All handles of the events that only freed requests need, or that may be off (TransferEvents), and whether
// freed requests are watched. Handles live as long as the process (see subscribe()).
std::mutex freed_lock;
std::atomic<bool> freed_watched{false};
std::vector<void*>& freed_handles() {
  static auto* handles = new std::vector<void*>;
  return *handles;
}

// The request that on_match() has counted as empty on this thread, until on_begin() corrects it.
thread_local const void* counted_as_empty __attribute__((tls_model("initial-exec"))) = nullptr;

bool mpi_is_initialized() {
  const auto initialized = find_in_mpi_as<int (*)(int*)>("PMPI_Initialized");
  int flag = 0;
  return initialized != nullptr && initialized(&flag) == 0 && flag != 0;
}

const void* received_request(std::ptrdiff_t id, const Spec* spec) {
  const auto* request = reinterpret_cast<const void*>(id);
  const bool receives =
      spec->operation == kOperationReceive &&
      field<int>(request, openmpi::kPmlRequestType) == openmpi::kPmlRequestTypeReceive;
  return receives ? request : nullptr;
}

void count_received(const void* request, void* parameter, int source, int tag,
                    std::uint64_t bytes) {
  Live& live = *static_cast<Live*>(parameter);
  if (!events::records_where_noted()) events::message_received(live, tag, source, bytes, request);
  count_message(profile::Direction::kReceived, live, tag, source, bytes);
}

bool was_freed(const void* request) { return field<bool>(request, openmpi::kPmlRequestFreeCalled); }

int on_complete(void*, std::ptrdiff_t id, Spec* spec, void* parameter) {
  const void* request = received_request(id, spec);
  if (request == nullptr || field<int>(request, openmpi::kRequestCancelled) != 0)
    return kPeruseSuccess;
  count_received(request, parameter, field<int>(request, openmpi::kRequestSource),
                 field<int>(request, openmpi::kRequestTag),
                 field<std::size_t>(request, openmpi::kRequestReceivedBytes));
  return kPeruseSuccess;
}

int on_end(void*, std::ptrdiff_t id, Spec* spec, void* parameter) {
  const void* request = received_request(id, spec);
  if (request == nullptr || !was_freed(request)) [[likely]]
    return kPeruseSuccess;
  count_received(request, parameter, field<int>(request, openmpi::kRequestSource),
                 field<int>(request, openmpi::kRequestTag),
                 field<std::size_t>(request, openmpi::layout().request_received_bytes));
  return kPeruseSuccess;
}

// The rank of a process in a group, or -1. Takes time linear in the size of the group.
int rank_in_group(const void* group, const void* process) {
  const rankmap::Identity who{field<std::uint32_t>(process, openmpi::kProcJob),
                              field<std::uint32_t>(process, openmpi::kProcRank)};
  for (int i = 0; i < rankmap::group_size(group); ++i) {
    if (rankmap::member(group, i) == who) return i;
  }
  return -1;
}

// The status is not filled in yet, but the request already holds the sender's process (match_one in
// pml_ob1_recvfrag.c). A wildcard tag matches only a program's message.
int on_match(void*, std::ptrdiff_t id, Spec* spec, void* parameter) {
  const void* request = received_request(id, spec);
  if (request == nullptr || !was_freed(request)) [[likely]]
    return kPeruseSuccess;
  const Live& live = *static_cast<const Live*>(parameter);
  const int source =
      spec->peer >= 0 ? spec->peer
                      : rank_in_group(live.group, field<const void*>(
                                                      request, openmpi::layout().request_process));
  if (source < 0) return kPeruseSuccess;
  count_received(request, parameter, source, spec->tag == kAnyTag ? 0 : spec->tag, 0);
  counted_as_empty = request;
  return kPeruseSuccess;
}

int on_begin(void*, std::ptrdiff_t id, Spec*, void* parameter) {
  const auto* request = reinterpret_cast<const void*>(id);
  if (counted_as_empty != request) [[likely]]
    return kPeruseSuccess;
  counted_as_empty = nullptr;
  if (!was_freed(request))
    return kPeruseSuccess;  // a new request at the same address: the earlier message was empty
  const Live& live = *static_cast<const Live*>(parameter);
  const ClassId class_id = classify(live, field<int>(request, openmpi::kRequestTag));
  ProfiledProcess* process = ProfiledProcess::active();
  if (class_id == kIgnored || process == nullptr) return kPeruseSuccess;
  events::received_retracted(request);
  process->counter().retract_empty(
      live.kind, class_id, live.group,
      static_cast<std::uint32_t>(field<int>(request, openmpi::kRequestSource)));
  return kPeruseSuccess;
}

// ---- when Open MPI reports the begin and end of transfers, in the library that records ----
//
// A short message that a posted receive awaits causes four events while its receiver waits for nothing
// else: match, begin, end, completion. Each costs some nanoseconds, which its next message waits for too. Begin
// and end tell nothing new: if the message has bytes, ob1 reports the begin right after the match
// (recv_req_matched in pml_ob1_recvreq.h) and the end right before the completion
// (recv_request_pml_complete, same file). So these two events are off, and recorded with the others, as
// long as there is nothing but such receives on a communicator. They are on
//   while a send has a request: its begin and end are reported at any time,
//   for some receives after one that found its message waiting: other events come in between,
//   from the first persistent send on (ACTIVATE is reported only when it is made), the first
//     successful probe (what MPI_Mrecv receives is not matched again) and the first freed request,
//   always where several threads may communicate.

constexpr std::uint32_t kQuietReceives = 16;  // switching costs as much as two receives save

bool reports_transfers(const Live& live) {
  return live.transfer_events.on || freed_watched.load(std::memory_order_relaxed);
}

[[gnu::noinline]] void switch_transfers(Live::TransferEvents& events, bool on) {
  events.on = on;
  for (void* handle : events.handles) {
    if (handle != nullptr) on ? peruse.activate(handle) : peruse.deactivate(handle);
  }
}

void needs_transfers(Live& live) {
  live.transfer_events.quiet = 0;
  if (!live.transfer_events.on) switch_transfers(live.transfer_events, true);
}

// `live` is of another communicator than before, which may use its handles again.
void begin_transfers(Live& live) {
  ProfiledProcess* process = ProfiledProcess::active();
  live.transfer_events.stays_on = process != nullptr && process->counter().shared_by_threads();
  live.transfer_events.sends = 0;
  needs_transfers(live);
}

void send_activated(Live& live, const void* request) {
  needs_transfers(live);
  live.transfer_events.stays_on |= field<bool>(request, openmpi::kRequestPersistent);
  ++live.transfer_events.sends;
}

void send_ended(Live& live) {
  if (live.transfer_events.sends > 0) --live.transfer_events.sends;
}

void receive_completed(Live& live) {
  Live::TransferEvents& events = live.transfer_events;
  if (!events.on || events.stays_on || events.sends > 0) return;
  if (++events.quiet >= kQuietReceives && !freed_watched.load(std::memory_order_relaxed))
    switch_transfers(events, false);
}

// A request's status tells the length of its message.
void record_completion(Live& live, bool receiving, const void* request,
                       std::ptrdiff_t received_bytes_at) {
  const bool is_empty = field<std::size_t>(request, openmpi::kRequestReceivedBytes) == 0;
  if (!receiving) {
    if (is_empty) send_ended(live);  // no XFER event
    return events::transfer(Step::kComplete, receiving, request);
  }
  const bool was_received = field<int>(request, openmpi::kRequestCancelled) == 0;
  if (reports_transfers(live) || !was_received) {
    events::transfer(Step::kComplete, receiving, request);
  } else if (is_empty) {
    events::not_begun(request);
    events::transfer(Step::kComplete, receiving, request);
  } else {
    events::transfer(Step::kEnd, receiving, request, received_bytes_at, Step::kComplete);
  }
  if (field<int>(request, openmpi::kPmlRequestType) != openmpi::kPmlRequestTypeReceive) {
    needs_transfers(live);
    live.transfer_events.stays_on = true;
  }
  receive_completed(live);
}

template <Step step>
void record(Live& live, bool receiving, const void* request, std::ptrdiff_t received_bytes_at) {
  if (step == Step::kComplete)
    return record_completion(live, receiving, request, received_bytes_at);
  if (step == Step::kActivate && !receiving) send_activated(live, request);
  if (step == Step::kEnd && !receiving) send_ended(live);
  if (step == Step::kMatchedUnexpected) needs_transfers(live);
  const bool begins = step == Step::kMatchedExpected && !reports_transfers(live);
  events::transfer(step, receiving, request, received_bytes_at, begins ? Step::kBegin : Step{});
}

// Records the step, in the library that records, and counts.
template <const openmpi::Layout& layout, Step step, EventCallback count>
int seen(void* event, std::ptrdiff_t id, Spec* spec, void* parameter) {
  if (events::kRecords && events::records_transfers()) {
    record<step>(*static_cast<Live*>(parameter), spec->operation == kOperationReceive,
                 reinterpret_cast<const void*>(id), layout.request_received_bytes);
  }
  return count(event, id, spec, parameter);
}

int no_count(void*, std::ptrdiff_t, Spec*, void*) { return kPeruseSuccess; }

template <bool left>
int on_unexpected(void*, std::ptrdiff_t, Spec* spec, void* parameter) {
  events::unexpected(*static_cast<const Live*>(parameter), spec->peer, spec->tag, left);
  return kPeruseSuccess;
}

enum class Use {
  kAlways,     // counts
  kFreed,      // counts requests that were freed while active
  kRecording,  // counts nothing
};
struct Subscription {
  const char* event;
  EventCallback callback;
  Use use;
};
// Begins with the two events that may be off (TransferEvents).
template <const openmpi::Layout& layout>
constexpr Subscription kTable[kSubscriptions] = {
    {"PERUSE_COMM_REQ_XFER_BEGIN", seen<layout, Step::kBegin, on_begin>, Use::kFreed},
    {"PERUSE_COMM_REQ_XFER_END", seen<layout, Step::kEnd, on_end>, Use::kFreed},
    {"PERUSE_COMM_REQ_COMPLETE", seen<layout, Step::kComplete, on_complete>, Use::kAlways},
    {"PERUSE_COMM_MSG_MATCH_POSTED_REQ", seen<layout, Step::kMatchedExpected, on_match>,
     Use::kFreed},
    {"PERUSE_COMM_REQ_ACTIVATE", seen<layout, Step::kActivate, no_count>, Use::kRecording},
    {"PERUSE_COMM_REQ_INSERT_IN_POSTED_Q", seen<layout, Step::kPosted, no_count>, Use::kRecording},
    {"PERUSE_COMM_REQ_MATCH_UNEX", seen<layout, Step::kMatchedUnexpected, no_count>,
     Use::kRecording},
    {"PERUSE_COMM_REQ_XFER_CONTINUE", seen<layout, Step::kContinue, no_count>, Use::kRecording},
    {"PERUSE_COMM_MSG_INSERT_IN_UNEX_Q", on_unexpected<false>, Use::kRecording},
    {"PERUSE_COMM_MSG_REMOVE_FROM_UNEX_Q", on_unexpected<true>, Use::kRecording},
};

const Subscription* table = nullptr;  // of the layout in use

bool is_wanted(const Subscription& subscription) {
  return subscription.use != Use::kRecording || events::records_transfers();
}

}  // namespace

bool open_peruse(const char*& reason) {
  const auto init = find_in_mpi_as<int (*)()>("PERUSE_Init");
  const auto query = find_in_mpi_as<int (*)(const char*, int*)>("PERUSE_Query_event");
  peruse.register_event =
      find_in_mpi_as<decltype(peruse.register_event)>("PERUSE_Event_comm_register");
  peruse.activate = find_in_mpi_as<decltype(peruse.activate)>("PERUSE_Event_activate");
  peruse.deactivate = find_in_mpi_as<decltype(peruse.deactivate)>("PERUSE_Event_deactivate");
  if (init == nullptr || query == nullptr || peruse.register_event == nullptr ||
      peruse.activate == nullptr || peruse.deactivate == nullptr) {
    reason = "this Open MPI was built without PERUSE (--enable-peruse)";
    return false;
  }
  if (init() != kPeruseSuccess) {
    reason = mpi_is_initialized() ? "PERUSE_Init failed"
                                  : "PERUSE_Init needs MPI_Init, which the program has not called";
    return false;
  }
  openmpi::with_layout([]<const openmpi::Layout & layout> { table = kTable<layout>; });
  for (int i = 0; i < kSubscriptions; ++i) {
    if (is_wanted(table[i]) && query(table[i].event, &event_numbers[i]) != kPeruseSuccess) {
      reason = "this Open MPI does not know all PERUSE events that exact counting needs";
      return false;
    }
  }
  return true;
}

// Open MPI frees neither an event handle nor the array of a communicator that is gone
// (PERUSE_Event_release in ompi/peruse/peruse.c). So both stay with the Live object, which uses
// them again for its next communicator: 2,000 communicators in a loop cost the handles of one.
void subscribe(Live& live) {
  void* comm = const_cast<void*>(live.comm);
  void*& handles = field_ref<void*>(comm, openmpi::layout().comm_peruse_handles);
  begin_transfers(live);
  if (handles == nullptr && live.peruse_handles != nullptr) {
    handles = live.peruse_handles;
    return;
  }
  const std::lock_guard guard(freed_lock);
  for (int i = 0; i < kSubscriptions; ++i) {
    void* handle = nullptr;
    if (!is_wanted(table[i])) continue;
    if (peruse.register_event(event_numbers[i], comm, table[i].callback, &live, &handle) !=
        kPeruseSuccess)
      continue;
    const bool only_for_freed = table[i].use == Use::kFreed && !events::records_transfers();
    if (table[i].use == Use::kFreed) freed_handles().push_back(handle);
    if (i < std::ssize(live.transfer_events.handles)) live.transfer_events.handles[i] = handle;
    if (!only_for_freed || freed_watched) peruse.activate(handle);
  }
  live.peruse_handles = handles;
}

void watch_freed_requests(bool on) {
  const std::lock_guard guard(freed_lock);
  if (freed_watched.exchange(on) == on) return;
  if (!on && events::records_transfers()) return;  // all of them are used
  for (void* handle : freed_handles()) on ? peruse.activate(handle) : peruse.deactivate(handle);
}

void unsubscribe(Live& live) {
  void*& handles =
      field_ref<void*>(const_cast<void*>(live.comm), openmpi::layout().comm_peruse_handles);
  if (handles == live.peruse_handles) handles = nullptr;
}

}  // namespace fathom::profiler
