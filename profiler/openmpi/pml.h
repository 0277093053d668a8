// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's point-to-point layer as Fathom calls it: the table mca_pml (ompi/mca/pml/pml.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace fathom::profiler {

// The entries of mca_pml that Fathom calls or replaces, with Open MPI's signatures (opaque
// pointers).
struct Pml {
  int (*add_comm)(void* comm);
  int (*del_comm)(void* comm);
  int (*irecv_init)(void* buffer, std::size_t count, void* datatype, int source, int tag,
                    void* comm, void** request);
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

// Open MPI's own entries, valid once source_pml has hooked the table; calls through them are not
// counted. A variable rather than a function, because every message goes through it.
inline constinit Pml original_pml{};

// The name of the PML in use: "ob1", "ucx", "cm"; empty if unknown.
std::string selected_pml();

// The value of an MCA parameter in Open MPI's parameter files (those of mca_base_param_files, by
// default ~/.openmpi/mca-params.conf and the installation's; opal/mca/base/mca_base_var.c). Reads
// the files itself: before MPI_Init, Open MPI has not done so yet.
std::optional<std::string> setting_in_files(const std::string& name);

// True if the user or the site chose a PML: OMPI_MCA_pml, or a line in one of those files. `choice`
// receives the value.
bool user_chose_pml(std::string& choice);

}  // namespace fathom::profiler
