// SPDX-License-Identifier: BSD-3-Clause
// The receiving witness without PERUSE: counts messages from completed receive requests.
//
// A blocking receive returns source, tag and length in its status. A non-blocking one is counted
// when Open MPI frees its request, as every wait and test does once it is complete: Fathom replaces
// the request's free function. A completion callback would count it earlier, but costs two to three
// nanoseconds more per message.
//
// Some complete requests are never freed: the program does not wait for them, or only calls
// MPI_Request_get_status, or Open MPI drops them after an error (MPI_Sendrecv and collectives; see
// ompi_request_default_wait in ompi/request/req_wait.c). count_left() finds them at MPI_Finalize
// among all requests of the PML; they count in the phase that is active then.
//
// A request that the program gives up with MPI_Request_free while it is active would complete in
// ob1 without a call to Fathom. So it is freed only after its message has arrived: by its
// completion callback, or, with MPI_THREAD_MULTIPLE, when later requests are given up, or at
// MPI_Finalize.
//
// If the requests of the PML cannot be listed (pml/ucx), a completion callback counts them.
//
// Not counted: receives that complete after count_left(), and, with MPI_THREAD_MULTIPLE and a PML
// whose requests cannot be listed, complete receives that are never freed. Their messages show as
// differences and not as unreceived (unexpected_queue.h).
#pragma once

#include "profiler/openmpi/pml.h"

namespace fathom::profiler::receive_requests {

// Before the first request. `threads_share`: several threads may be inside MPI at once. `counts`:
// false if PERUSE counts the messages, and requests are watched only to find waits (profiler/waits/).
void open(bool threads_share, bool counts);
// Several threads may be inside MPI at once from now on; until now there was one.
void share_with_threads();

// What replaces the entries of mca_pml for receives, made for the layout in use.
struct Entries {
  decltype(Pml::recv) recv;
  decltype(Pml::irecv) irecv;
  decltype(Pml::irecv_init) irecv_init;
  decltype(Pml::imrecv) imrecv;
  decltype(Pml::mrecv) mrecv;
};
Entries entries();

// The program frees this request. False if it is no watched receive.
bool given_up(void* request);

// Counts the complete receives that nobody has freed. For MPI_Finalize, when no more messages come.
void count_left();

// The present call says that this request is complete, and leaves it to another that completes it: for
// what a loop of such calls waited for. Does nothing for other requests than complete receives, and where
// the PML does not return whole tags (pml/ucx).
void saw_complete(void* request);

// A persistent request is about to be started; does nothing for a send.
[[gnu::noinline]] void before_start(void* request);

}  // namespace fathom::profiler::receive_requests
