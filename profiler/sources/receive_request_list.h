// SPDX-License-Identifier: BSD-3-Clause
// Lists all receive requests that the PML has allocated, in use or not.
//
// pml/ob1 and pml/cm take them from mca_pml_base_recv_requests, a free list that keeps its blocks
// of memory (opal_free_list_grow_st in opal/class/opal_free_list.c). Walking these blocks at the
// end finds the requests that nobody freed, at no cost per message.
//
// Threading: call while no other thread is inside MPI, and never from a signal handler.
#pragma once

namespace fathom::profiler {

// False if the PML takes its receive requests from elsewhere, as pml/ucx does.
bool lists_receive_requests();

// Calls visit(request) for each of them. Stops at an object that is not a request of that list.
void for_each_receive_request(void (*visit)(void* request));

}  // namespace fathom::profiler
