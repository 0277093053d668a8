// SPDX-License-Identifier: BSD-3-Clause
// What the wrappers of MPI_Wait, MPI_Test and their families record: which requests completed.
//
// The library replaces the handles of completed requests, so the old handles are kept during the
// call. A request counts as completed when its handle was replaced or, if it is persistent, when it
// went from active to inactive. This includes requests that failed, and excludes those that
// MPI_ERR_PENDING leaves alone. Cancellation is known only if the program asked for statuses.
//
// Waitany and Waitsome also name the requests that they leave active, if they waited: one of those
// may be the first that could complete, which is known only when all processes' traces are joined.
//
// Cost: for each request, one handle is copied; Wait, Waitall, Test and Testall also look at its
// state, as the library itself is about to do, and so do Waitany and Waitsome after a wait. No
// allocation except KeptRequests' memory, once per thread.
#pragma once

#include <cstddef>

#include "profiler/recording/traced_call.h"

namespace fathom::profiler::traced {

struct Ended {
  int result;
  std::uint32_t completed = 0;  // number of requests
};

// The numbers of a call's requests, kept while the call replaces the handles. A few are kept here,
// more in memory of the thread, reserved at its first use and returned when the thread ends; calls
// may nest. With more than kMost requests, or without memory, none is kept: count() is 0.
class KeptRequests {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // in nested calls together

  enum class Which {
    kAll,
    kActive
  };  // kActive: kNoRequest in place of inactive persistent requests
  KeptRequests(Which which, int count, const MPI_Request* requests);
  ~KeptRequests();
  KeptRequests(const KeptRequests&) = delete;

  int count() const { return count_; }
  std::uint64_t operator[](int i) const { return numbers_[i]; }
  const std::uint64_t* data() const { return numbers_; }

 private:
  static constexpr int kFew = 16;
  std::uint64_t few_[kFew];
  std::uint64_t* numbers_ = few_;
  int count_ = 0;
};

// Which requests a call that leaves them as they are has found to be complete, after its return.
void name_found(TracedCall& call, int count, const MPI_Request* requests);
void name_found(TracedCall& call, int count, const MPI_Request* requests, int found,
                const int* indices);

// Records the numbers of all requests of a call, after its enter record.
void name_requests(TracedCall& call, int count, const MPI_Request* requests);

// One for each MPI function: keeps the old handles, makes the call and records what completed.
namespace completion {
Ended wait(TracedCall& call, int (*next)(MPI_Request*, MPI_Status*), MPI_Request* request,
           MPI_Status* status);
Ended waitall(TracedCall& call, int (*next)(int, MPI_Request*, MPI_Status*), int count,
              MPI_Request* requests, MPI_Status* statuses);
Ended waitany(TracedCall& call, int (*next)(int, MPI_Request*, int*, MPI_Status*), int count,
              MPI_Request* requests, int* index, MPI_Status* status);
Ended waitsome(TracedCall& call, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), int count,
               MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
Ended test(TracedCall& call, int (*next)(MPI_Request*, int*, MPI_Status*), MPI_Request* request,
           int* flag, MPI_Status* status);
Ended testall(TracedCall& call, int (*next)(int, MPI_Request*, int*, MPI_Status*), int count,
              MPI_Request* requests, int* flag, MPI_Status* statuses);
Ended testany(TracedCall& call, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), int count,
              MPI_Request* requests, int* index, int* flag, MPI_Status* status);
Ended testsome(TracedCall& call, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), int count,
               MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
}  // namespace completion

}  // namespace fathom::profiler::traced
