// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/source_pml.h"

#include <mutex>
#include <unordered_map>

#include "message_events.h"
#include "profiler/counting/counting.h"
#include "profiler/counting/partitioned.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/sources/receive_requests.h"
#include "profiler/sources/unexpected_queue.h"

namespace fathom::profiler {
namespace {

using rankmap::field;
using rankmap::field_ref;

using openmpi::kProcNull;
using openmpi::kSuccess;
using openmpi::Layout;

void* module_table = nullptr;

[[gnu::cold, gnu::noinline]] void count_lost(int destination) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process != nullptr && destination != kProcNull) process->counter_lost();
}

// `request`: null if the call that sends the message also completes it.
[[gnu::always_inline]] inline void count_sent(const Layout& layout, const void* comm, int tag,
                                              int destination, std::uint64_t bytes,
                                              void* request = nullptr) {
  Live* live = Communicators::find(comm, layout);
  if (live == nullptr) [[unlikely]]
    return count_lost(destination);
  events::sent(*live, tag, destination, request);
  count_message(profile::Direction::kSent, *live, tag, destination, bytes);
}

std::uint64_t bytes_of(std::size_t count, const void* datatype) {
  return count * field<std::size_t>(datatype, openmpi::kDatatypeSize);
}

// Counts a message after handing it over: for small ones, whose latency matters, the receiver is
// then already reading it.
template <const Layout& layout>
int send(const void* buffer, std::size_t count, void* datatype, int destination, int tag, int mode,
         void* comm) {
  events::message_sent(layout, comm, tag, destination, bytes_of(count, datatype));
  const int result = original_pml.send(buffer, count, datatype, destination, tag, mode, comm);
  if (result == kSuccess) count_sent(layout, comm, tag, destination, bytes_of(count, datatype));
  return result;
}

template <const Layout& layout>
int isend(const void* buffer, std::size_t count, void* datatype, int destination, int tag, int mode,
          void* comm, void** request) {
  events::message_sent(layout, comm, tag, destination, bytes_of(count, datatype));
  const int result =
      original_pml.isend(buffer, count, datatype, destination, tag, mode, comm, request);
  if (result != kSuccess) return result;
  events::send_requested(*request);
  count_sent(layout, comm, tag, destination, bytes_of(count, datatype), *request);
  return result;
}

// ---- persistent sends ----

using StartFunction = int (*)(std::size_t, void**);
using FreeFunction = int (*)(void**);

struct PersistentSend {
  const void* comm;
  int tag;
  int destination;
  std::uint64_t bytes;
  StartFunction start;  // the request's own
  FreeFunction free;
};

std::mutex persistent_lock;
std::unordered_map<const void*, PersistentSend>& persistent_sends() {
  static auto* sends =
      new std::unordered_map<const void*, PersistentSend>;  // outlives every caller
  return *sends;
}

int start_request(std::size_t count, void** requests);
int free_request(void** request);

void adopt(void* request, PersistentSend send) noexcept try {
  send.start = field<StartFunction>(request, openmpi::kRequestStart);
  send.free = field<FreeFunction>(request, openmpi::kRequestFree);
  const std::lock_guard guard(persistent_lock);
  persistent_sends()[request] = send;
  field_ref<StartFunction>(request, openmpi::kRequestStart) = start_request;
  field_ref<FreeFunction>(request, openmpi::kRequestFree) = free_request;
} catch (...) {
}

// Restores the request's own functions; false if the request is not in the map.
bool release(void* request, PersistentSend& send) {
  const std::lock_guard guard(persistent_lock);
  const auto found = persistent_sends().find(request);
  if (found == persistent_sends().end()) return false;
  send = found->second;
  persistent_sends().erase(found);
  field_ref<StartFunction>(request, openmpi::kRequestStart) = send.start;
  field_ref<FreeFunction>(request, openmpi::kRequestFree) = send.free;
  return true;
}

bool find(const void* request, PersistentSend& send) {
  const std::lock_guard guard(persistent_lock);
  const auto found = persistent_sends().find(request);
  if (found == persistent_sends().end()) return false;
  send = found->second;
  return true;
}

// Starts one request; the PML may put a new request in its place while an old buffered send is
// still on its way (mca_pml_ob1_start in ompi/mca/pml/ob1/pml_ob1_start.c).
int start_one(StartFunction start, void** request) {
  void* before = *request;
  PersistentSend send{};
  const bool is_send = find(before, send);
  if (start == nullptr) start = send.start;
  if (start == nullptr) return 1;
  const Layout& layout = openmpi::layout();  // the map costs far more
  if (is_send) events::message_sent(layout, send.comm, send.tag, send.destination, send.bytes);
  const int result = start(1, request);
  if (result != kSuccess || !is_send) return result;
  events::send_requested(*request);
  if (*request != before && release(before, send)) adopt(*request, send);
  count_sent(layout, send.comm, send.tag, send.destination, send.bytes, *request);
  return result;
}

// What a user's MPI_Start and MPI_Startall call; all these requests have this start function.
int start_request(std::size_t count, void** requests) {
  for (std::size_t i = 0; i < count; ++i) {
    const int result = start_one(nullptr, &requests[i]);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

// What the library calls for its own persistent requests.
int start(std::size_t count, void** requests) {
  for (std::size_t i = 0; i < count; ++i) {
    receive_requests::before_start(requests[i]);
    const int result = start_one(original_pml.start, &requests[i]);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

int free_request(void** request) {
  PersistentSend send{};
  release(*request, send);
  return send.free == nullptr ? kSuccess : send.free(request);
}

// A persistent request on a communicator that the program never sees, with a tag of the program's
// range, is a partition. (Only osc/pt2pt of 4.1 makes others, inside windows.)
void note_partition(profile::Direction direction, const void* comm, int tag, int peer,
                    const void* buffer, std::uint64_t bytes) {
  if (!Partitioned::in_use() || tag < 0 || peer < 0) return;
  Live* live = Communicators::find(comm);
  if (live == nullptr || live->user_visible) return;
  Partitioned::requested(direction, *live, peer, tag, buffer, bytes);
}

int isend_init(const void* buffer, std::size_t count, void* datatype, int destination, int tag,
               int mode, void* comm, void** request) {
  const int result =
      original_pml.isend_init(buffer, count, datatype, destination, tag, mode, comm, request);
  if (result == kSuccess && destination != kProcNull) {
    note_partition(profile::Direction::kSent, comm, tag, destination, buffer,
                   bytes_of(count, datatype));
    adopt(*request, {comm, tag, destination, bytes_of(count, datatype), nullptr, nullptr});
  }
  return result;
}

// Replaced even where PERUSE counts receives. Notes a partition before it can arrive.
decltype(Pml::irecv_init) irecv_init_of_receives = nullptr;  // null: PERUSE counts
bool watches_receives = false;

int irecv_init(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
               void** request) {
  note_partition(profile::Direction::kReceived, comm, tag, source, buffer,
                 bytes_of(count, datatype));
  const auto next =
      irecv_init_of_receives != nullptr ? irecv_init_of_receives : original_pml.irecv_init;
  return next(buffer, count, datatype, source, tag, comm, request);
}

// ---- communicators ----

int add_comm(void* comm) {
  const int result = original_pml.add_comm(comm);
  ProfiledProcess* process = ProfiledProcess::active();
  if (result == kSuccess && process != nullptr) process->communicators().added(comm);
  return result;
}

int del_comm(void* comm) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process != nullptr) {
    const Live* live = Communicators::find(comm);
    if (live != nullptr) count_unreceived(*process, *live);
    process->communicators().removed(comm);
  }
  return original_pml.del_comm(comm);
}

// ---- the table's entries ----

enum class Exchanged { kAlways, kForReceives, kNever };

// The entries for the layout in use.
struct Sends {
  decltype(Pml::send) send;
  decltype(Pml::isend) isend;
};
Sends sends_in_use() {
  Sends sends{};
  openmpi::with_layout([&]<const Layout & layout> { sends = {send<layout>, isend<layout>}; });
  return sends;
}

// Calls visit(offset, Open MPI's own, ours, when) for each entry that Fathom calls or replaces: the one
// list of them.
template <typename Visit>
void for_each_entry(Visit visit) {
  Pml& own = original_pml;
  const Layout& layout = openmpi::layout();
  const Sends sends = sends_in_use();
  const receive_requests::Entries receives = receive_requests::entries();
  visit(openmpi::kPmlAddComm, own.add_comm, add_comm, Exchanged::kAlways);
  visit(openmpi::kPmlDelComm, own.del_comm, del_comm, Exchanged::kAlways);
  visit(layout.pml_send, own.send, sends.send, Exchanged::kAlways);
  visit(layout.pml_isend, own.isend, sends.isend, Exchanged::kAlways);
  visit(layout.pml_isend_init, own.isend_init, isend_init, Exchanged::kAlways);
  visit(layout.pml_start, own.start, start, Exchanged::kAlways);
  visit(layout.pml_recv, own.recv, receives.recv, Exchanged::kForReceives);
  visit(layout.pml_irecv, own.irecv, receives.irecv, Exchanged::kForReceives);
  visit(layout.pml_irecv_init, own.irecv_init, irecv_init, Exchanged::kAlways);
  visit(layout.pml_imrecv, own.imrecv, receives.imrecv, Exchanged::kForReceives);
  visit(layout.pml_mrecv, own.mrecv, receives.mrecv, Exchanged::kForReceives);
  visit(layout.pml_iprobe, own.iprobe, decltype(own.iprobe){}, Exchanged::kNever);
}

void exchange_entries(Exchanged wanted) {
  for_each_entry([wanted]<typename F>(std::ptrdiff_t offset, F&, F ours, Exchanged when) {
    if (when == wanted) field_ref<F>(module_table, offset) = ours;
  });
}

}  // namespace

bool hook_pml() {
  module_table = find_variable_in_mpi("mca_pml");
  if (module_table == nullptr) return false;
  original_pml.largest_user_tag = field<int>(module_table, openmpi::kPmlMaxTag);
  for_each_entry([]<typename F>(std::ptrdiff_t offset, F& own, F, Exchanged) {
    if (own == nullptr) own = field<F>(module_table, offset);
  });
  exchange_entries(Exchanged::kAlways);
  return true;
}

void hook_receives() {
  watches_receives = true;
  irecv_init_of_receives = receive_requests::entries().irecv_init;
  exchange_entries(Exchanged::kForReceives);
}

bool hook_pml_again() {
  if (module_table == nullptr) return false;
  bool same = true;
  for_each_entry([&same]<typename F>(std::ptrdiff_t offset, F& own, F, Exchanged) {
    same &= field<F>(module_table, offset) == own;
  });
  if (!same) return false;
  exchange_entries(Exchanged::kAlways);
  if (watches_receives) hook_receives();
  return true;
}

void unhook_pml() {
  if (module_table == nullptr) return;
  irecv_init_of_receives = nullptr;
  for_each_entry([]<typename F>(std::ptrdiff_t offset, F& own, F, Exchanged when) {
    if (when != Exchanged::kNever) field_ref<F>(module_table, offset) = own;
  });
}

}  // namespace fathom::profiler
