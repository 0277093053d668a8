// SPDX-License-Identifier: BSD-3-Clause
// What the wrappers of MPI_Wait, MPI_Test and their families record: which requests completed.
//
// The library replaces the handles of completed requests, so they are kept while it runs. A request
// counts as completed when its handle was replaced, or, if it is persistent, when it went from
// active to inactive; so requests that failed are named too, and those that MPI_ERR_PENDING leaves
// alone are not. Whether it was cancelled is known where the program asked for statuses.
//
// Cost: for each request given, one handle copied; Wait, Waitall, Test and Testall also look at its
// state, as the library itself is about to do. No allocation but KeptRequests' memory, once for a
// thread.
#pragma once

#include <cstddef>

#include "profiler/recording/traced_call.h"

namespace fathom::profiler::traced {

struct Ended {
  int result;
  std::uint32_t completed = 0;  // requests
};

// The numbers of the requests given to a call, kept while it replaces the handles. A few are kept
// here, more in memory of the thread, reserved at its first use and returned when the thread ends;
// calls may nest. More than kMost (or without memory) are waited for unnamed: count() is 0.
class KeptRequests {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // in nested calls together

  enum class Which {
    kAll,
    kActive
  };  // kActive: kNoRequest in place of persistent ones not started
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

// Names all requests of a call, behind its enter record.
void name_requests(TracedCall& call, int count, const MPI_Request* requests);

// One function for each of MPI's: the call itself between what has to be kept and what is recorded.
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
