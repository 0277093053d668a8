// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/source_pml.h"

#include <mutex>
#include <unordered_map>

#include "message_events.h"
#include "profiler/counting/counting.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/sources/receive_requests.h"
#include "profiler/sources/unexpected_queue.h"

namespace fathom::profiler {
namespace {

using rankmap::field;
using rankmap::field_ref;

constexpr int kSuccess = 0;
constexpr int kProcNull = -2;  // MPI_PROC_NULL in Open MPI's mpi.h

void* module_table = nullptr;

template <typename F>
void exchange_entry(std::ptrdiff_t offset, F& saved, F replacement) {
  F& entry = field_ref<F>(module_table, offset);
  if (saved == nullptr) saved = entry;
  if (replacement != nullptr) entry = replacement;
}

[[gnu::cold, gnu::noinline]] void count_lost(int destination) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process != nullptr && destination != kProcNull) process->counter_lost();
}

[[gnu::always_inline]] inline void count_sent(const void* comm, int tag, int destination,
                                              std::uint64_t bytes) {
  Live* live = Communicators::find(comm);
  if (live == nullptr) [[unlikely]]
    return count_lost(destination);
  count_message(profile::Direction::kSent, *live, tag, destination, bytes);
}

std::uint64_t bytes_of(std::size_t count, const void* datatype) {
  return count * field<std::size_t>(datatype, openmpi::kDatatypeSize);
}

// Counts a message after handing it over: for small ones, whose latency matters, the receiver is
// then already reading it.
int send(const void* buffer, std::size_t count, void* datatype, int destination, int tag, int mode,
         void* comm) {
  events::message_sent(comm, tag, destination, bytes_of(count, datatype));
  const int result = original_pml.send(buffer, count, datatype, destination, tag, mode, comm);
  if (result == kSuccess) count_sent(comm, tag, destination, bytes_of(count, datatype));
  return result;
}

int isend(const void* buffer, std::size_t count, void* datatype, int destination, int tag, int mode,
          void* comm, void** request) {
  events::message_sent(comm, tag, destination, bytes_of(count, datatype));
  const int result =
      original_pml.isend(buffer, count, datatype, destination, tag, mode, comm, request);
  if (result != kSuccess) return result;
  events::send_requested(*request);
  count_sent(comm, tag, destination, bytes_of(count, datatype));
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
  if (is_send) events::message_sent(send.comm, send.tag, send.destination, send.bytes);
  const int result = start(1, request);
  if (result != kSuccess || !is_send) return result;
  events::send_requested(*request);
  if (*request != before && release(before, send)) adopt(*request, send);
  count_sent(send.comm, send.tag, send.destination, send.bytes);
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

int isend_init(const void* buffer, std::size_t count, void* datatype, int destination, int tag,
               int mode, void* comm, void** request) {
  const int result =
      original_pml.isend_init(buffer, count, datatype, destination, tag, mode, comm, request);
  if (result == kSuccess && destination != kProcNull) {
    adopt(*request, {comm, tag, destination, bytes_of(count, datatype), nullptr, nullptr});
  }
  return result;
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

}  // namespace

bool hook_pml() {
  module_table = find_variable_in_mpi("mca_pml");
  if (module_table == nullptr) return false;
  original_pml.largest_user_tag = field<int>(module_table, openmpi::kPmlMaxTag);
  exchange_entry(openmpi::kPmlRecv, original_pml.recv, decltype(original_pml.recv){});
  exchange_entry(openmpi::kPmlIrecv, original_pml.irecv, decltype(original_pml.irecv){});
  exchange_entry(openmpi::kPmlIrecvInit, original_pml.irecv_init,
                 decltype(original_pml.irecv_init){});
  exchange_entry(openmpi::kPmlImrecv, original_pml.imrecv, decltype(original_pml.imrecv){});
  exchange_entry(openmpi::kPmlMrecv, original_pml.mrecv, decltype(original_pml.mrecv){});
  exchange_entry(openmpi::kPmlIprobe, original_pml.iprobe, decltype(original_pml.iprobe){});
  exchange_entry(openmpi::kPmlAddComm, original_pml.add_comm, add_comm);
  exchange_entry(openmpi::kPmlDelComm, original_pml.del_comm, del_comm);
  exchange_entry(openmpi::kPmlSend, original_pml.send, send);
  exchange_entry(openmpi::kPmlIsend, original_pml.isend, isend);
  exchange_entry(openmpi::kPmlIsendInit, original_pml.isend_init, isend_init);
  exchange_entry(openmpi::kPmlStart, original_pml.start, start);
  return true;
}

void hook_receives() {
  exchange_entry(openmpi::kPmlRecv, original_pml.recv, receive_requests::recv);
  exchange_entry(openmpi::kPmlIrecv, original_pml.irecv, receive_requests::irecv);
  exchange_entry(openmpi::kPmlIrecvInit, original_pml.irecv_init, receive_requests::irecv_init);
  exchange_entry(openmpi::kPmlImrecv, original_pml.imrecv, receive_requests::imrecv);
  exchange_entry(openmpi::kPmlMrecv, original_pml.mrecv, receive_requests::mrecv);
}

void unhook_pml() {
  if (module_table == nullptr) return;
  field_ref<decltype(original_pml.add_comm)>(module_table, openmpi::kPmlAddComm) =
      original_pml.add_comm;
  field_ref<decltype(original_pml.del_comm)>(module_table, openmpi::kPmlDelComm) =
      original_pml.del_comm;
  field_ref<decltype(original_pml.send)>(module_table, openmpi::kPmlSend) = original_pml.send;
  field_ref<decltype(original_pml.isend)>(module_table, openmpi::kPmlIsend) = original_pml.isend;
  field_ref<decltype(original_pml.isend_init)>(module_table, openmpi::kPmlIsendInit) =
      original_pml.isend_init;
  field_ref<decltype(original_pml.start)>(module_table, openmpi::kPmlStart) = original_pml.start;
  field_ref<decltype(original_pml.recv)>(module_table, openmpi::kPmlRecv) = original_pml.recv;
  field_ref<decltype(original_pml.irecv)>(module_table, openmpi::kPmlIrecv) = original_pml.irecv;
  field_ref<decltype(original_pml.irecv_init)>(module_table, openmpi::kPmlIrecvInit) =
      original_pml.irecv_init;
  field_ref<decltype(original_pml.imrecv)>(module_table, openmpi::kPmlImrecv) = original_pml.imrecv;
  field_ref<decltype(original_pml.mrecv)>(module_table, openmpi::kPmlMrecv) = original_pml.mrecv;
}

}  // namespace fathom::profiler
