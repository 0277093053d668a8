#include "profiler/receive_requests.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "message_events.h"
#include "profiler/counting.h"
#include "profiler/mpi_library.h"
#include "profiler/session.h"
#include "profiler/source_pml.h"

namespace fathom::profiler::receive_requests {
namespace {

using rankmap::field;
using rankmap::field_ref;

using Callback = int (*)(void*);
using FreeFunction = int (*)(void**);
using StartFunction = int (*)(std::size_t, void**);

constexpr int kSuccess = 0;
constexpr int kTruncated = 15;  // MPI_ERR_TRUNCATE: the message arrived, with its full length in the status
constexpr int kProcNull = -2;
constexpr int kAnyTag = -1;
constexpr std::size_t kStatusBytes = 64;  // more than sizeof(MPI_Status) in Open MPI 4 (24)

// The tag that the message was sent with. It is the one asked for, unless that was a wildcard, which only
// matches a program's tags. Where the posted tag is not known any more, the status tells: a PML with fewer
// tag bits than an int gives the library's negative tags back without their sign, above the largest user
// tag (PML_UCX_TAG_GET_MPI_TAG in ompi/mca/pml/ucx/pml_ucx_request.h).
int matched_tag(int posted, const void* status) {
  if (posted != kAnyTag) return posted;
  const int tag = field<int>(status, openmpi::kStatusTag);
  const std::int64_t largest = largest_user_tag();
  return tag > largest ? static_cast<int>(tag - 2 * (largest + 1)) : tag;
}

void count_received(const void* comm, const void* status, int posted_tag, const void* request) {
  const int source = field<int>(status, openmpi::kStatusSource);
  if (source < 0 || field<int>(status, openmpi::kStatusCancelled) != 0) return;
  Live* live = Communicators::find(comm);
  if (live == nullptr) return;
  const int tag = matched_tag(posted_tag, status);
  const auto bytes = field<std::size_t>(status, openmpi::kStatusBytes);
  events::message_received(*live, tag, source, bytes, request);
  count_message(profile::Direction::kReceived, *live, tag, source, bytes);
}

const void* status_of(const void* request) {
  return static_cast<const char*>(request) + openmpi::kRequestSource - openmpi::kStatusSource;
}

const void* comm_of(const void* request) { return field<const void*>(request, openmpi::kRequestObject); }

bool is_complete(void* request) {
  // REQUEST_COMPLETED is 1 (ompi/request/request.h).
  return __atomic_load_n(&field_ref<std::uintptr_t>(request, openmpi::kRequestComplete),
                         __ATOMIC_ACQUIRE) == 1;
}

// ---- one-time requests: marked by their free function ----

std::atomic<FreeFunction> library_free{nullptr};
bool threads_share_mpi = true;
int free_counted(void** request);

// Takes the mark off; true for the one caller that shall count.
bool take_mark(void* request) {
  if (!threads_share_mpi) {  // a locked instruction costs as much as all the rest
    FreeFunction& free_function = field_ref<FreeFunction>(request, openmpi::kRequestFree);
    if (free_function != free_counted) return false;
    free_function = library_free.load(std::memory_order_relaxed);
    return true;
  }
  FreeFunction expected = free_counted;
  return __atomic_compare_exchange_n(&field_ref<FreeFunction>(request, openmpi::kRequestFree), &expected,
                                     library_free.load(std::memory_order_relaxed), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void count_once(void* request, int posted_tag) {
  if (take_mark(request)) count_received(comm_of(request), status_of(request), posted_tag, request);
}

// Our callback's data: the posted tag. Taken out, for pml/ucx uses requests again and expects none there
// (mca_pml_ucx_preq_completion in ompi/mca/pml/ucx/pml_ucx_request.c).
int tag_in_callback(void* request) {
  return static_cast<int>(
      std::exchange(field_ref<std::intptr_t>(request, openmpi::kRequestCallbackData), 0));
}

int on_complete(void* request) {
  count_once(request, tag_in_callback(request));
  return 0;
}

// Returns 1, as a callback must that has freed its request (ompi_request_complete_fn_t in
// ompi/request/request.h).
int on_complete_then_free(void* request) {
  count_once(request, tag_in_callback(request));
  library_free.load(std::memory_order_relaxed)(&request);
  return 1;
}

// The program gives up an active receive: ob1 would complete it without telling anyone. The library's
// free is put off until the message has come, which is when ob1 frees such a request itself. Only while
// no other thread can complete the request meanwhile; else it is freed now, and its message shows as sent
// and not received.
bool put_off(void** request) {
  Callback& callback = field_ref<Callback>(*request, openmpi::kRequestCallback);
  if (threads_share_mpi || callback != on_complete) return false;
  callback = on_complete_then_free;
  *request = find_variable_in_mpi("ompi_request_null");
  return true;
}

// In the middle of completing: Open MPI takes the callback off before it calls it, and a callback of its own
// may free the request from there (coll/adapt).
bool is_completing(const void* request) {
  return field<Callback>(request, openmpi::kRequestCallback) == nullptr;
}

int free_counted(void** request) {
  if (is_complete(*request) || is_completing(*request)) {
    count_once(*request, kAnyTag);
  } else if (put_off(request)) {
    return kSuccess;
  } else {
    take_mark(*request);
  }
  return library_free.load(std::memory_order_relaxed)(request);
}

void watch(void* request, int posted_tag) {
  FreeFunction& free_function = field_ref<FreeFunction>(request, openmpi::kRequestFree);
  FreeFunction known = library_free.load(std::memory_order_relaxed);
  if (known == nullptr && library_free.compare_exchange_strong(known, free_function)) {
    known = free_function;
  }
  if (known != free_function) return;
  events::receive_requested(request);
  __atomic_store_n(&free_function, &free_counted, __ATOMIC_RELEASE);
  if (!is_complete(request) && field<Callback>(request, openmpi::kRequestCallback) == nullptr) {
    field_ref<std::intptr_t>(request, openmpi::kRequestCallbackData) = posted_tag;
    __atomic_store_n(&field_ref<Callback>(request, openmpi::kRequestCallback), &on_complete, __ATOMIC_RELEASE);
  }
  if (is_complete(request)) count_once(request, posted_tag);
}

// ---- persistent receives: one mark for each start ----

struct PersistentReceive {
  const void* comm;
  int tag;
  StartFunction start;
  FreeFunction free;
  Callback library_callback;  // that the library had set for this start (osc/pt2pt)
};

std::mutex persistent_lock;
std::unordered_map<const void*, PersistentReceive>& persistent_receives() {
  static auto* receives = new std::unordered_map<const void*, PersistentReceive>;
  return *receives;
}

bool find(const void* request, PersistentReceive& receive) {
  const std::lock_guard guard(persistent_lock);
  const auto found = persistent_receives().find(request);
  if (found == persistent_receives().end()) return false;
  receive = found->second;
  return true;
}

int on_persistent_complete(void* request) {
  PersistentReceive receive{};
  if (!find(request, receive)) return 0;
  // Counted first: the library's callback may start the request again.
  count_received(receive.comm, status_of(request), receive.tag, request);
  return receive.library_callback == nullptr ? 0 : receive.library_callback(request);
}

int start_persistent(std::size_t count, void** requests) {
  for (std::size_t i = 0; i < count; ++i) {
    PersistentReceive receive{};
    if (!find(requests[i], receive)) return 1;
    before_start(requests[i]);
    const int result = receive.start(1, &requests[i]);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

int free_persistent(void** request) {
  PersistentReceive receive{};
  {
    const std::lock_guard guard(persistent_lock);
    const auto found = persistent_receives().find(*request);
    if (found == persistent_receives().end()) return kSuccess;
    receive = found->second;
    persistent_receives().erase(found);
  }
  field_ref<StartFunction>(*request, openmpi::kRequestStart) = receive.start;
  field_ref<FreeFunction>(*request, openmpi::kRequestFree) = receive.free;
  return receive.free(request);
}

}  // namespace

void open(bool threads_share) { threads_share_mpi = threads_share; }

// The callback is set before the start, so that no completion can come in between; Open MPI clears it
// when it calls it.
void before_start(void* request) {
  const std::lock_guard guard(persistent_lock);
  const auto found = persistent_receives().find(request);
  if (found == persistent_receives().end()) return;
  Callback& callback = field_ref<Callback>(request, openmpi::kRequestCallback);
  if (callback == on_persistent_complete) return;
  found->second.library_callback = callback;
  callback = on_persistent_complete;
}

int recv(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
         void* status) {
  alignas(16) char own_status[kStatusBytes] = {};
  void* seen = status != nullptr ? status : own_status;
  const int result = original_pml().recv(buffer, count, datatype, source, tag, comm, seen);
  if ((result == kSuccess || result == kTruncated) && source != kProcNull) {
    count_received(comm, seen, tag, nullptr);
  }
  return result;
}

int mrecv(void* buffer, std::size_t count, void* datatype, void** message, void* status) {
  alignas(16) char own_status[kStatusBytes] = {};
  void* seen = status != nullptr ? status : own_status;
  const void* comm = field<const void*>(*message, openmpi::kMessageComm);
  const int result = original_pml().mrecv(buffer, count, datatype, message, seen);
  if (result == kSuccess || result == kTruncated) count_received(comm, seen, kAnyTag, nullptr);
  return result;
}

int irecv(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
          void** request) {
  const int result = original_pml().irecv(buffer, count, datatype, source, tag, comm, request);
  if (result == kSuccess && source != kProcNull && Session::active() != nullptr) watch(*request, tag);
  return result;
}

int imrecv(void* buffer, std::size_t count, void* datatype, void** message, void** request) {
  const int result = original_pml().imrecv(buffer, count, datatype, message, request);
  if (result == kSuccess && Session::active() != nullptr) watch(*request, kAnyTag);
  return result;
}

int irecv_init(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
               void** request) try {
  const int result = original_pml().irecv_init(buffer, count, datatype, source, tag, comm, request);
  if (result != kSuccess || source == kProcNull || Session::active() == nullptr) return result;
  StartFunction& start = field_ref<StartFunction>(*request, openmpi::kRequestStart);
  FreeFunction& free_function = field_ref<FreeFunction>(*request, openmpi::kRequestFree);
  const std::lock_guard guard(persistent_lock);
  persistent_receives()[*request] = {comm, tag, start, free_function, nullptr};
  start = start_persistent;
  free_function = free_persistent;
  return result;
} catch (...) {
  return kSuccess;  // no memory to watch it: it works, uncounted
}

}  // namespace fathom::profiler::receive_requests
