// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/receive_requests.h"

#include <atomic>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "message_events.h"
#include "profiler/counting/counting.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/sources/receive_request_list.h"

namespace fathom::profiler::receive_requests {
namespace {

using rankmap::field;
using rankmap::field_ref;
using rankmap::is_complete;

using Callback = int (*)(void*);
using FreeFunction = int (*)(void**);
using StartFunction = int (*)(std::size_t, void**);

using openmpi::kSuccess;
using openmpi::Layout;
// The message arrived, with its full length in the status.
constexpr int kTruncated = openmpi::kErrorTruncate;
using openmpi::kAnyTag;
using openmpi::kProcNull;
constexpr std::size_t kStatusBytes = 64;  // more than sizeof(MPI_Status) in Open MPI 4 (24)

// ---- the tag that a message was sent with ----
//
// The status holds it, unless the PML has fewer tag bits than an int. Then the library's negative
// tags come back without their sign, above the largest user tag, and the lowest ones (those of
// neighbourhood collectives) not at all (PML_UCX_TAG_GET_MPI_TAG in
// ompi/mca/pml/ucx/pml_ucx_request.h). In that case the posted tag is used, unless it was a
// wildcard, which matches only a program's tags and those that do come back.

bool has_whole_tags() { return original_pml.largest_user_tag == std::numeric_limits<int>::max(); }

int matched_tag(int posted, const void* status) {
  const int tag = field<int>(status, openmpi::kStatusTag);
  if (has_whole_tags()) [[likely]]
    return tag;
  if (posted != kAnyTag) return posted;
  const std::int64_t largest = original_pml.largest_user_tag;
  return tag > largest ? static_cast<int>(tag - 2 * (largest + 1)) : tag;
}

// The posted tag is kept in the request, in the data of its completion callback, which Fathom does
// not use. The library's own value there is recognised: it is a pointer, which has these bits
// clear.
constexpr std::uint64_t kKeepsTag = std::uint64_t{0xFA74} << 48,
                        kKeepsTagMask = std::uint64_t{0xFFFF} << 48;

void keep_tag(void* request, int posted_tag) {
  field_ref<std::uint64_t>(request, openmpi::kRequestCallbackData) =
      kKeepsTag | static_cast<std::uint32_t>(posted_tag);
}

// Also removes it, because pml/ucx reuses requests and expects nothing there
// (mca_pml_ucx_preq_completion).
int take_kept_tag(void* request) {
  auto& data = field_ref<std::uint64_t>(request, openmpi::kRequestCallbackData);
  if ((data & kKeepsTagMask) != kKeepsTag) return kAnyTag;
  return static_cast<int>(static_cast<std::uint32_t>(std::exchange(data, 0)));
}

// ---- what was received ----

struct Received {
  Live* live = nullptr;  // null: nothing received, or on an unknown communicator
  int tag = 0, source = 0;
  std::uint64_t bytes = 0;

  [[gnu::always_inline]] Received(const Layout& layout, const void* comm, const void* status,
                                  int matched_tag, Live* found = nullptr)
      : tag(matched_tag), source(field<int>(status, openmpi::kStatusSource)) {
    if (source < 0 || field<int>(status, openmpi::kStatusCancelled) != 0) return;
    live = found != nullptr && found->comm == comm ? found : Communicators::find(comm, layout);
    bytes = field<std::size_t>(status, openmpi::kStatusBytes);
  }
};

// False if PERUSE counts, and requests are watched only to know which call completes them.
bool counts = true;

// Where PERUSE counts, it also records; but see records_where_noted().
[[gnu::always_inline]] inline void record_and_count(const Received& message, const void* request) {
  if (!counts && !events::records_where_noted()) return;
  events::message_received(*message.live, message.tag, message.source, message.bytes, request);
  if (!counts) return;
  count_message(profile::Direction::kReceived, *message.live, message.tag, message.source,
                message.bytes);
}

// `request`: null if the call that posted the receive also completes it; `note`: of its posting or
// start; `found`: the communicator, if it has been looked up.
[[gnu::always_inline]] inline void count_received(const Layout& layout, const void* comm,
                                                  const void* status, int posted_tag,
                                                  const void* request = nullptr,
                                                  std::uint64_t note = 0, Live* found = nullptr) {
  const Received message(layout, comm, status, matched_tag(posted_tag, status), found);
  if (message.live == nullptr) return;
  if (request == nullptr) {
    events::received(*message.live, message.tag, message.source, note);
  } else {
    events::persistent_received(*message.live, message.tag, message.source, note, request);
  }
  record_and_count(message, request);
}

const void* status_of(const void* request) {
  return static_cast<const char*>(request) + openmpi::kRequestSource - openmpi::kStatusSource;
}

const void* comm_of(const void* request) {
  return field<const void*>(request, openmpi::kRequestObject);
}

int matched_tag_of(void* request) {
  return matched_tag(has_whole_tags() ? kAnyTag : take_kept_tag(request), status_of(request));
}

// ---- one-time requests: counted when the library frees them ----

std::atomic<FreeFunction> library_free{nullptr};
bool threads_share_mpi = true;

int own_free(void** request) { return library_free.load(std::memory_order_relaxed)(request); }

// Restores the request's own free function first: Open MPI may reuse the request for a send
// (pml/ucx). Until a message is matched the source is a wildcard (MCA_PML_BASE_RECV_START in
// ompi/mca/pml/base/pml_base_recvreq.h), so a request that never got a message counts nothing.
template <const Layout& layout>
[[gnu::always_inline]] inline Received unmark(void* request) {
  field_ref<FreeFunction>(request, openmpi::kRequestFree) =
      library_free.load(std::memory_order_relaxed);
  return {layout, comm_of(request), status_of(request), matched_tag_of(request)};
}

// Counts a complete receive whose request stays allocated. Freeing it later counts nothing more.
template <const Layout& layout>
void count_unfreed(void* request) {
  const Received message = unmark<layout>(request);
  if (message.live == nullptr) return;
  events::request_received(*message.live, message.tag, message.source, request, has_whole_tags());
  record_and_count(message, request);
}

// Notes what the present call has waited for. The request stays as it is.
template <const Layout& layout>
void note_unfreed(void* request) {
  const Received message(layout, comm_of(request), status_of(request),
                         field<int>(status_of(request), openmpi::kStatusTag));
  if (message.live != nullptr)
    events::request_seen(*message.live, message.tag, message.source, request);
}

[[gnu::noinline]] int count_slowly_and_free(void** request, Live& live, int tag, int source,
                                            std::uint64_t bytes) {
  count_slowly(profile::Direction::kReceived, live, tag, source, bytes);
  return own_free(request);
}

// Hot: every call is the last action (a tail call) with arguments already in registers, so that
// nothing has to be saved.
template <const Layout& layout>
int free_counted(void** request) {
  const Received message = unmark<layout>(*request);
  if (message.live == nullptr) {
    events::not_received(*request, has_whole_tags());
    return own_free(request);
  }
  events::request_received(*message.live, message.tag, message.source, *request, has_whole_tags());
  events::message_received(*message.live, message.tag, message.source, message.bytes, *request);
  if (!count_repeated(profile::Direction::kReceived, *message.live, message.tag, message.source,
                      message.bytes)) {
    return count_slowly_and_free(request, *message.live, message.tag, message.source,
                                 message.bytes);
  }
  return own_free(request);
}

// The same where PERUSE counts.
template <const Layout& layout>
int free_noted(void** request) {
  const Received message = unmark<layout>(*request);
  if (message.live == nullptr) {
    events::not_received(*request, has_whole_tags());
  } else {
    events::request_received(*message.live, message.tag, message.source, *request,
                             has_whole_tags());
    if (events::records_where_noted())
      events::message_received(*message.live, message.tag, message.source, message.bytes, *request);
  }
  return own_free(request);
}

// The same for a complete request that the program has given up, where either counts. The present call
// did not wait for it.
template <const Layout& layout>
int free_given_up(void** request) {
  const Received message = unmark<layout>(*request);
  if (message.live == nullptr) {
    events::not_received(*request, has_whole_tags());
    return own_free(request);
  }
  events::given_up_received(*message.live, message.tag, message.source, *request, has_whole_tags());
  record_and_count(message, *request);
  return own_free(request);
}

// What cold code needs of these, for the layout in use.
struct {
  FreeFunction free_counted;
  FreeFunction free_noted;
  FreeFunction free_given_up;
  void (*count_unfreed)(void* request);
  void (*note_unfreed)(void* request);
} in_use{};

bool is_watched(const void* request) {
  const auto free_function = field<FreeFunction>(request, openmpi::kRequestFree);
  return free_function != nullptr &&
         (free_function == in_use.free_counted || free_function == in_use.free_noted);
}

// ---- requests that the program gives up before they are complete ----

int free_later(void** request) {
  *request = find_variable_in_mpi("ompi_request_null");
  return kSuccess;
}

// If another thread may complete the request at any moment, no callback can be set in time, and
// that thread may still use the request. So it is kept in a list until it is complete. Giving up a
// request checks a few others in the list, so that the list does not outgrow the active requests.
std::mutex given_up_lock;
std::vector<void*>& given_up_requests() {
  static auto* requests = new std::vector<void*>;
  return *requests;
}

bool free_if_complete(void* request) {
  if (!is_complete(request)) return false;
  in_use.free_given_up(&request);
  return true;
}

void look_at_some_given_up() {
  static std::size_t next = 0;
  auto& kept = given_up_requests();
  for (int looks = 4; looks > 0 && !kept.empty(); --looks, ++next) {
    if (next >= kept.size()) next = 0;
    if (!free_if_complete(kept[next])) continue;
    kept[next] = kept.back();
    kept.pop_back();
  }
}

int keep_until_complete(void** request) try {
  const std::lock_guard guard(given_up_lock);
  look_at_some_given_up();
  given_up_requests().push_back(*request);
  return free_later(request);
} catch (...) {  // no memory for the list: the request works, uncounted
  field_ref<FreeFunction>(*request, openmpi::kRequestFree) =
      library_free.load(std::memory_order_relaxed);
  return own_free(request);
}

// Returns 1, as a callback that has freed its request must (ompi_request_complete_fn_t in
// ompi/request/request.h).
int on_complete_then_free(void* request) {
  events::request_completed(request, true);
  in_use.free_given_up(&request);
  return 1;
}

[[gnu::cold, gnu::noinline]] bool is_library_free(FreeFunction free_function) {
  FreeFunction none = nullptr;
  return library_free.compare_exchange_strong(none, free_function);
}

// True if the PML returns whole tags and count_left() can list its requests. Otherwise (pml/ucx) a
// completion callback counts them; with several threads it might be set too late, so then only
// freeing counts them.
bool is_usual = true;

template <const Layout& layout>
int on_complete_count(void* request) {
  if (field<FreeFunction>(request, openmpi::kRequestFree) != free_counted<layout>) return 0;
  events::request_completed(request, true);
  count_unfreed<layout>(request);
  return 0;
}

template <const Layout& layout>
[[gnu::noinline]] void watch_unusual(void* request, int posted_tag) {
  if (!has_whole_tags()) keep_tag(request, posted_tag);
  const bool counts_now = !lists_receive_requests() && is_complete(request);
  Callback& callback = field_ref<Callback>(request, openmpi::kRequestCallback);
  if (!lists_receive_requests() && !counts_now && !threads_share_mpi && callback == nullptr) {
    callback = on_complete_count<layout>;
  }
  events::receive_requested(request);
  if (counts_now) count_unfreed<layout>(request);
}

template <const Layout& layout>
void watch(void* request, const void* comm, int posted_tag, int posted_source,
           std::uint64_t note = 0) {
  FreeFunction& free_function = field_ref<FreeFunction>(request, openmpi::kRequestFree);
  if (free_function != library_free.load(std::memory_order_relaxed) &&
      !is_library_free(free_function))
    return;
  if (note != 0) {
    events::posted_with(request, note, has_whole_tags());
  } else if (events::kFindsWaits) {
    events::posted(Communicators::find(comm, layout), posted_tag, posted_source, request,
                   has_whole_tags());
  }
  if (!counts) {
    free_function = free_noted<layout>;
    return;
  }
  free_function = free_counted<layout>;
  if (!is_usual) [[unlikely]]
    return watch_unusual<layout>(request, posted_tag);
  events::receive_requested(request);
}

// ---- persistent receives: one mark for each start ----

struct PersistentReceive {
  const void* comm;
  int tag;
  StartFunction start;
  FreeFunction free;
  Callback library_callback;  // the one that the library set for this start (osc/pt2pt)
  bool given_up;              // freed between its start and its completion
  int source;                 // as posted
  std::uint64_t note;         // of this start: events::started()
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

int on_persistent_complete(void* request);

// Gives the request its own functions back and frees it.
int release(void** request, const PersistentReceive& receive) {
  field_ref<StartFunction>(*request, openmpi::kRequestStart) = receive.start;
  field_ref<FreeFunction>(*request, openmpi::kRequestFree) = receive.free;
  return receive.free(request);
}

// True if freeing it now would lose its message. If the library frees a request inside that
// request's callback, it does so before the request is marked as complete.
bool is_active(const void* request, const PersistentReceive& receive) {
  const bool waits_for_callback =
      receive.library_callback == nullptr ||
      field<Callback>(request, openmpi::kRequestCallback) == on_persistent_complete;
  return waits_for_callback && !is_complete(request);
}

// Whether the request was given up; if so, it is removed from the map.
bool forget_given_up(const void* request) {
  const std::lock_guard guard(persistent_lock);
  const auto found = persistent_receives().find(request);
  if (found == persistent_receives().end() || !found->second.given_up) return false;
  persistent_receives().erase(found);
  return true;
}

int on_persistent_complete(void* request) {
  PersistentReceive receive{};
  if (!find(request, receive)) return 0;
  events::request_completed(request, true);
  // Count first: the library's callback may start the request again.
  count_received(openmpi::layout(), receive.comm, status_of(request), receive.tag, request,
                 receive.note);
  if (forget_given_up(request)) {
    release(&request, receive);
    return 1;  // required of a callback that has freed its request
  }
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
    if (is_active(*request, found->second)) {
      found->second.given_up = true;
      return free_later(request);
    }
    receive = found->second;
    persistent_receives().erase(found);
  }
  return release(request, receive);
}

// ---- the entries of mca_pml ----

template <const Layout& layout>
int recv(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
         void* status) {
  alignas(16) char own_status[kStatusBytes] = {};
  void* seen = status != nullptr ? status : own_status;
  // Before the receive, whose time is spent waiting; what follows it delays the program.
  Live* live = Communicators::find(comm, layout);
  const std::uint64_t note = events::kFindsWaits ? events::started(live, tag, source) : 0;
  const int result = original_pml.recv(buffer, count, datatype, source, tag, comm, seen);
  if ((result == kSuccess || result == kTruncated) && source != kProcNull) {
    count_received(layout, comm, seen, tag, nullptr, note, live);
  } else {
    events::not_started(note);
  }
  return result;
}

template <const Layout& layout>
int mrecv(void* buffer, std::size_t count, void* datatype, void** message, void* status) {
  alignas(16) char own_status[kStatusBytes] = {};
  void* seen = status != nullptr ? status : own_status;
  const void* comm = field<const void*>(*message, openmpi::kMessageComm);
  const std::uint64_t note = events::posted_matched(*message);
  const int result = original_pml.mrecv(buffer, count, datatype, message, seen);
  if (result == kSuccess || result == kTruncated)
    count_received(layout, comm, seen, kAnyTag, nullptr, note);
  return result;
}

template <const Layout& layout>
int irecv(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
          void** request) {
  const int result = original_pml.irecv(buffer, count, datatype, source, tag, comm, request);
  if (result == kSuccess) watch<layout>(*request, comm, tag, source);
  return result;
}

template <const Layout& layout>
int imrecv(void* buffer, std::size_t count, void* datatype, void** message, void** request) {
  const std::uint64_t note = events::posted_matched(*message);
  const int result = original_pml.imrecv(buffer, count, datatype, message, request);
  if (result == kSuccess) watch<layout>(*request, comm_of(*request), kAnyTag, -1, note);
  return result;
}

int irecv_init(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
               void** request) try {
  const int result = original_pml.irecv_init(buffer, count, datatype, source, tag, comm, request);
  if (result != kSuccess || source == kProcNull || ProfiledProcess::active() == nullptr)
    return result;
  StartFunction& start = field_ref<StartFunction>(*request, openmpi::kRequestStart);
  FreeFunction& free_function = field_ref<FreeFunction>(*request, openmpi::kRequestFree);
  const std::lock_guard guard(persistent_lock);
  persistent_receives()[*request] = {comm, tag, start, free_function, nullptr, false, source, 0};
  start = start_persistent;
  free_function = free_persistent;
  return result;
} catch (...) {
  return kSuccess;  // no memory to watch the request: it works, uncounted
}

}  // namespace

void open(bool threads_share, bool counts_messages) {
  openmpi::with_layout([]<const Layout & layout> {
    in_use = {free_counted<layout>, free_noted<layout>, free_given_up<layout>,
              count_unfreed<layout>, note_unfreed<layout>};
  });
  counts = counts_messages;
  threads_share_mpi = threads_share;
  is_usual = has_whole_tags() && lists_receive_requests();
}

void share_with_threads() { threads_share_mpi = true; }

Entries entries() {
  Entries made{};
  openmpi::with_layout([&]<const Layout & layout> {
    made = {recv<layout>, irecv<layout>, irecv_init, imrecv<layout>, mrecv<layout>};
  });
  return made;
}

bool given_up(void* request) {
  if (!is_watched(request)) return false;
  if (is_complete(request)) return true;
  if (threads_share_mpi) {
    field_ref<FreeFunction>(request, openmpi::kRequestFree) = keep_until_complete;
  } else {
    field_ref<Callback>(request, openmpi::kRequestCallback) = on_complete_then_free;
    field_ref<FreeFunction>(request, openmpi::kRequestFree) = free_later;
  }
  return true;
}

void count_left() {
  {
    const std::lock_guard guard(given_up_lock);
    std::erase_if(given_up_requests(), free_if_complete);
  }
  for_each_receive_request([](void* request) {
    const bool is_counted =
        field<FreeFunction>(request, openmpi::kRequestFree) == in_use.free_counted;
    if (is_counted && is_complete(request)) in_use.count_unfreed(request);
  });
}

void saw_complete(void* request) {
  if (is_watched(request) && has_whole_tags() && is_complete(request)) in_use.note_unfreed(request);
}

// Sets the callback before the start, so that no completion can come in between. Open MPI clears it
// when it calls it.
void before_start(void* request) {
  const std::lock_guard guard(persistent_lock);
  const auto found = persistent_receives().find(request);
  if (found == persistent_receives().end()) return;
  events::request_started(request, true);
  found->second.note = events::started(Communicators::find(found->second.comm), found->second.tag,
                                       found->second.source);
  Callback& callback = field_ref<Callback>(request, openmpi::kRequestCallback);
  if (callback == on_persistent_complete) return;
  found->second.library_callback = callback;
  callback = on_persistent_complete;
}

}  // namespace fathom::profiler::receive_requests
