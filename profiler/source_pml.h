// Source `pml`: every message at the boundary between MPI and its point-to-point layer.
//
// Open MPI calls its PML through the exported table mca_pml (ompi/mca/pml/pml.h), for the program's
// messages as for those inside collectives. Replacing entries of that table sees every send with its
// destination, tag, communicator and size, on any build of the release and with any PML. Persistent
// sends are started through a function in the request itself, which is replaced as well.
//
// The same table announces every communicator that comes and goes.
//
// Threading: hook() and unhook() while no other thread is inside MPI; the entries from any thread.
#pragma once

#include <cstddef>
#include <string>

namespace fathom::profiler {

// The entries of mca_pml that Fathom calls or replaces, with Open MPI's signatures (opaque pointers).
struct Pml {
  int (*add_comm)(void* comm);
  int (*del_comm)(void* comm);
  int (*irecv_init)(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
                    void** request);
  int (*irecv)(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
               void** request);
  int (*recv)(void* buffer, std::size_t count, void* datatype, int source, int tag, void* comm,
              void* status);
  int (*isend_init)(const void* buffer, std::size_t count, void* datatype, int destination, int tag,
                    int mode, void* comm, void** request);
  int (*isend)(const void* buffer, std::size_t count, void* datatype, int destination, int tag,
               int mode, void* comm, void** request);
  int (*send)(const void* buffer, std::size_t count, void* datatype, int destination, int tag,
              int mode, void* comm);
  int (*iprobe)(int source, int tag, void* comm, int* matched, void* status);
  int (*start)(std::size_t count, void** requests);
  int (*imrecv)(void* buffer, std::size_t count, void* datatype, void** message, void** request);
  int (*mrecv)(void* buffer, std::size_t count, void* datatype, void** message, void* status);
  int largest_user_tag;  // pml_max_tag
};

// False if the process has no mca_pml.
bool hook_pml();
// Puts the original entries back. Requests that are still persistent keep working.
void unhook_pml();

// Receives too are counted at this boundary, from their completed requests; for sources without PERUSE.
// After hook_pml().
void hook_receives();

// Open MPI's own, good from hook_pml() on: calls through them are not counted. A variable, and not a function
// that returns it, for every message goes through it.
inline constinit Pml original_pml{};

// The name of the PML in use: "ob1", "ucx", "cm"; empty if unknown.
std::string selected_pml();

}  // namespace fathom::profiler
