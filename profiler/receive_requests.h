// The receiving witness where there is no PERUSE: messages counted from completed receive requests.
//
// A blocking receive tells its source, tag and length in its status when it returns. A non-blocking
// one is counted when it is freed, which every wait, test and user inside the library does once it
// is complete: its free function is replaced for as long as it lives. A completion callback would
// be the nearer moment, but costs each message some nanoseconds more.
//
// Some complete requests are never freed: the program does not wait for them, or asks
// MPI_Request_get_status alone, or Open MPI forgets them (MPI_Sendrecv and collectives, where the
// receive ended with an error: ompi_request_default_wait in ompi/request/req_wait.c). count_left()
// finds these at MPI_Finalize among all requests of the PML; their messages count in the phase that
// is named then. What the program gives up with MPI_Request_free before it is complete, ob1 would
// end without a word: then freeing is put off until the message has come; with MPI_THREAD_MULTIPLE
// until the next ones are given up, or MPI_Finalize.
//
// A PML whose requests cannot be listed (pml/ucx) has them counted by a callback when they
// complete.
//
// Not seen: what completes after count_left(); and with such a PML and MPI_THREAD_MULTIPLE, a
// complete receive that is never freed. These messages are differences, for their receivers do not
// see them waiting (unexpected_queue.h).
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

// At MPI_Finalize, when no more messages arrive: counts the complete receives that nobody has
// freed.
void count_left();

// A persistent request is about to be started; does nothing for a send.
void before_start(void* request);

}  // namespace fathom::profiler::receive_requests
