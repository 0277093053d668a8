// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/traced_completion.h"

#include <sys/mman.h>

#include <utility>

namespace fathom::profiler::traced {
namespace {

bool is_inactive(const void* request) {
  return rankmap::field<bool>(request, openmpi::kRequestPersistent) &&
         rankmap::field<int>(request, openmpi::kRequestState) == openmpi::kRequestInactive;
}

std::uint64_t number_of(MPI_Request request) {
  request = native(request);
  return request == nullptr ? trace::kNoRequest : Requests::number(request);
}

// The number of a request that this call may complete; kNoRequest if it cannot.
std::uint64_t active_number_of(MPI_Request request) {
  const std::uint64_t number = number_of(request);
  return number != trace::kNoRequest && is_inactive(request) ? trace::kNoRequest : number;
}

bool is_finished(std::uint64_t kept, MPI_Request now) {
  return kept != trace::kNoRequest && (number_of(now) != kept || is_inactive(now));
}

// The handles that this thread keeps, in the order of nested calls.
struct ThreadMemory {
  std::uint64_t* numbers = nullptr;
  std::size_t used = 0;

  bool reserve() {
    if (numbers != nullptr) return true;
    void* memory = mmap(nullptr, KeptRequests::kMost * sizeof *numbers, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    numbers = static_cast<std::uint64_t*>(memory);
    return true;
  }
  ~ThreadMemory() {
    if (numbers != nullptr) munmap(numbers, KeptRequests::kMost * sizeof *numbers);
    numbers = nullptr;
  }
};

ThreadMemory& thread_memory() {
  static thread_local ThreadMemory memory __attribute__((tls_model("initial-exec")));
  return memory;
}

Ended single(TracedCall& call, int result, std::uint64_t kept, const MPI_Request* request,
             const MPI_Status* status) {
  call.returned();
  if (request == nullptr || !is_finished(kept, *request)) return {result};
  call.completed(kept, was_cancelled(status));
  return {result, 1};
}

Ended all(TracedCall& call, int result, const KeptRequests& kept, const MPI_Request* requests,
          const MPI_Status* statuses) {
  call.returned();
  Ended ended{result};
  for (int i = 0; i < kept.count(); ++i) {
    if (!is_finished(kept[i], requests[i])) continue;
    call.completed(kept[i], was_cancelled(statuses, i));
    ++ended.completed;
  }
  return ended;
}

Ended one_of(TracedCall& call, int result, const KeptRequests& kept, const MPI_Request* requests,
             const int* index, const MPI_Status* status) {
  // Refused arguments leave the index unset; MPI_UNDEFINED is negative. In the standard ABI these
  // numbers are the same.
  if (result == MPI_ERR_ARG || result == MPI_ERR_REQUEST || index == nullptr) return {result};
  if (*index < 0 || *index >= kept.count() || !is_finished(kept[*index], requests[*index]))
    return {result};
  call.completed(kept[*index], was_cancelled(status));
  return {result, 1};
}

Ended some(TracedCall& call, int result, const KeptRequests& kept, const int* completed,
           const int* indices, const MPI_Status* statuses) {
  Ended ended{result};
  if (completed == nullptr || indices == nullptr) return ended;
  for (int i = 0; i < *completed; ++i) {  // MPI_UNDEFINED is negative
    if (indices[i] < 0 || indices[i] >= kept.count()) continue;
    call.completed(kept[indices[i]], was_cancelled(statuses, i));
    ++ended.completed;
  }
  return ended;
}

// Names the requests that are still active after a call that waited for any of several. Calls that
// took less than kTicksPerRequest (some 100 ns) for each are left out, so that naming takes a small
// part of what was waited, and at most 80 MB of trace a second, however many requests there are.
void name_the_rest(TracedCall& call, std::uint64_t entered, const KeptRequests& kept,
                   const MPI_Request* requests) {
  constexpr std::uint64_t kTicksPerRequest = 256;
  const auto count = static_cast<std::size_t>(kept.count());
  if (!call.on() || call.left_at() - entered < kTicksPerRequest * count) return;
  std::uint64_t active[trace::kMaxWords];
  std::size_t used = 0;
  for (int i = 0; i < kept.count(); ++i) {
    if (kept[i] == trace::kNoRequest || is_finished(kept[i], requests[i])) continue;
    active[used++] = kept[i];
    if (used < trace::kMaxWords) continue;
    call.values(trace::Attribute::kRequests, active, used);
    used = 0;
  }
  call.values(trace::Attribute::kRequests, active, used);
}

bool filled_in(int result) {
  return result == MPI_SUCCESS || native_error(result) == MPI_ERR_IN_STATUS;
}

}  // namespace

KeptRequests::KeptRequests(Which which, int count, const MPI_Request* requests) {
  if (count <= 0 || requests == nullptr) return;
  if (count > kFew) {
    ThreadMemory& memory = thread_memory();
    if (!memory.reserve() || static_cast<std::size_t>(count) > kMost - memory.used) return;
    numbers_ = memory.numbers + memory.used;
    memory.used += static_cast<std::size_t>(count);
  }
  count_ = count;
  for (int i = 0; i < count; ++i) {
    numbers_[i] = which == Which::kAll ? number_of(requests[i]) : active_number_of(requests[i]);
  }
}

KeptRequests::~KeptRequests() {
  if (numbers_ != few_) thread_memory().used -= static_cast<std::size_t>(count_);
}

void name_requests(TracedCall& call, int count, const MPI_Request* requests) {
  const KeptRequests kept(KeptRequests::Which::kAll, count, requests);
  call.values(trace::Attribute::kRequests, kept.data(), static_cast<std::size_t>(kept.count()));
}

void name_found(TracedCall& call, int count, const MPI_Request* requests) {
  if (call.on()) name_requests(call, count, requests);
}

void name_found(TracedCall& call, int count, const MPI_Request* requests, int found,
                const int* indices) {
  if (!call.on() || requests == nullptr || indices == nullptr) return;
  for (int i = 0; i < found; ++i)  // MPI_UNDEFINED is negative
    if (indices[i] >= 0 && indices[i] < count) name_requests(call, 1, requests + indices[i]);
}

void TracedCall::values(trace::Attribute attribute, const std::uint64_t* values,
                        std::size_t count) {
  if (stream_ == nullptr) return;
  const auto append = [&]<std::size_t... I>(std::index_sequence<I...>) {
    Recorder::append(*stream_, stream_->last_ticks, trace::RecordKind::kValues,
                     static_cast<std::uint32_t>(attribute), values[I]...);
    values += sizeof...(I);
    count -= sizeof...(I);
  };
  while (count >= trace::kMaxWords) append(std::make_index_sequence<trace::kMaxWords>());
  if (count >= 8) append(std::make_index_sequence<8>());
  if (count >= 4) append(std::make_index_sequence<4>());
  if (count >= 2) append(std::make_index_sequence<2>());
  if (count >= 1) append(std::make_index_sequence<1>());
}

namespace completion {

Ended wait(TracedCall& call, int (*next)(MPI_Request*, MPI_Status*), MPI_Request* request,
           MPI_Status* status) {
  if (!call.on() || request == nullptr) return {next(request, status)};
  const std::uint64_t kept = active_number_of(*request);
  return single(call, next(request, status), kept, request, status);
}

Ended test(TracedCall& call, int (*next)(MPI_Request*, int*, MPI_Status*), MPI_Request* request,
           int* flag, MPI_Status* status) {
  if (!call.on() || request == nullptr) return {next(request, flag, status)};
  const std::uint64_t kept = active_number_of(*request);
  return single(call, next(request, flag, status), kept, request, status);
}

Ended waitall(TracedCall& call, int (*next)(int, MPI_Request*, MPI_Status*), int count,
              MPI_Request* requests, MPI_Status* statuses) {
  if (!call.on()) return {next(count, requests, statuses)};
  const KeptRequests kept(KeptRequests::Which::kActive, count, requests);
  call.values(trace::Attribute::kRequests, kept.data(), static_cast<std::size_t>(kept.count()));
  return all(call, next(count, requests, statuses), kept, requests, statuses);
}

Ended testall(TracedCall& call, int (*next)(int, MPI_Request*, int*, MPI_Status*), int count,
              MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (!call.on()) return {next(count, requests, flag, statuses)};
  const KeptRequests kept(KeptRequests::Which::kActive, count, requests);
  const int result = next(count, requests, flag, statuses);
  if (result == MPI_SUCCESS && *flag == 0) return {result};
  return all(call, result, kept, requests, statuses);
}

Ended waitany(TracedCall& call, int (*next)(int, MPI_Request*, int*, MPI_Status*), int count,
              MPI_Request* requests, int* index, MPI_Status* status) {
  if (!call.on()) return {next(count, requests, index, status)};
  const std::uint64_t entered = call.last_ticks();
  const KeptRequests kept(KeptRequests::Which::kAll, count, requests);
  const int result = next(count, requests, index, status);
  call.returned();
  if (result == MPI_SUCCESS) name_the_rest(call, entered, kept, requests);
  return one_of(call, result, kept, requests, index, status);
}

Ended testany(TracedCall& call, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), int count,
              MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (!call.on()) return {next(count, requests, index, flag, status)};
  const KeptRequests kept(KeptRequests::Which::kAll, count, requests);
  const int result = next(count, requests, index, flag, status);
  if (result == MPI_SUCCESS && *flag == 0) return {result};
  call.returned();
  return one_of(call, result, kept, requests, index, status);
}

Ended waitsome(TracedCall& call, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), int count,
               MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (!call.on()) return {next(count, requests, completed, indices, statuses)};
  const std::uint64_t entered = call.last_ticks();
  const KeptRequests kept(KeptRequests::Which::kAll, count, requests);
  const int result = next(count, requests, completed, indices, statuses);
  if (!filled_in(result)) return {result};
  call.returned();
  if (result == MPI_SUCCESS) name_the_rest(call, entered, kept, requests);
  return some(call, result, kept, completed, indices, statuses);
}

Ended testsome(TracedCall& call, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), int count,
               MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (!call.on()) return {next(count, requests, completed, indices, statuses)};
  const KeptRequests kept(KeptRequests::Which::kAll, count, requests);
  const int result = next(count, requests, completed, indices, statuses);
  if (!filled_in(result)) return {result};
  call.returned();
  return some(call, result, kept, completed, indices, statuses);
}

}  // namespace completion
}  // namespace fathom::profiler::traced
