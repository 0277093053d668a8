// The receiving witness where there is no PERUSE: messages counted from completed receive requests.
//
// A blocking receive tells its source, tag and length in its status when it returns. A non-blocking one
// is either complete when irecv returns, or gets a completion callback (ompi_request_t.req_complete_cb);
// since the library may put its own callback in place of ours (coll/adapt, osc/pt2pt), and since another
// thread may complete the request between the test and the registration, the request's free function is
// replaced as well: whichever comes first takes the request's mark and counts, so each is counted once.
//
// Not seen: with MPI_THREAD_MULTIPLE, a receive that the program gives up with MPI_Request_free before it
// completes. Its message shows as sent and not received.
#pragma once

#include <cstddef>

namespace fathom::profiler::receive_requests {

// Before the first request: whether several threads are inside MPI at once.
void open(bool threads_share);

int recv(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
         void* status);
int irecv(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
          void** request);
int irecv_init(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
               void** request);
int imrecv(void* buffer, std::size_t count, void* datatype, void** message, void** request);
int mrecv(void* buffer, std::size_t count, void* datatype, void** message, void* status);

// A persistent request is about to be started; does nothing for a send.
void before_start(void* request);

}  // namespace fathom::profiler::receive_requests
