// The receiving witness where there is no PERUSE: messages counted from completed receive requests.
//
// A blocking receive tells its source, tag and length in its status when it returns. A non-blocking one is
// counted when it is freed, which every wait, test and user inside the library does once it is complete: its
// free function is replaced for as long as it lives. What the program gives up with MPI_Request_free before it
// is complete, ob1 would end without a word: then freeing is put off until the message has come.
//
// Not seen: with MPI_THREAD_MULTIPLE, a receive that is given up before it completes, for another thread may
// complete it meanwhile. Its message shows as sent and not received. The same goes for a receive that is
// complete but that the program never waits for.
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

// The program frees this request; it need not be a receive.
void given_up(void* request);

// A persistent request is about to be started; does nothing for a send.
void before_start(void* request);

}  // namespace fathom::profiler::receive_requests
