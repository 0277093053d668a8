// All receive requests that the PML has made, those in use and those that wait to be used again.
//
// pml/ob1 and pml/cm take theirs from mca_pml_base_recv_requests, which keeps the blocks of memory
// that it carves them from (opal_free_list_grow_st in opal/class/opal_free_list.c). Walking these
// at the end finds a request that nobody frees, at no cost for each message.
//
// Threading: while no other thread is inside MPI. Never during a signal.
#pragma once

namespace fathom::profiler {

// False where the PML takes its receive requests from elsewhere, as pml/ucx does.
bool lists_receive_requests();

// visit(request) for each of them. Stops at whatever is not as it should be.
void for_each_receive_request(void (*visit)(void* request));

}  // namespace fathom::profiler
