// SPDX-License-Identifier: BSD-3-Clause
// Where Open MPI keeps what Fathom reads, as far as it differs between releases.
//
// Each file openmpi_*.h in this folder holds one Layout, written by rankmap/write_layouts.py from
// that release's internal headers; common.h holds what is equal in all of them. A Layout is a
// constant, so code for every message is a template over it (`template <const Layout& layout>`) and
// contains its numbers; other code asks layout() in layouts/all.h.
#pragma once

#include <compare>
#include <cstddef>

namespace fathom::openmpi {

struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};

struct Layout {
  Version first, last;  // of the releases that have it

  // Offsets in struct ompi_communicator_t (ompi/communicator/communicator.h).
  std::ptrdiff_t comm_name;         // the name itself, or a pointer to it ...
  std::ptrdiff_t comm_name_inside;  // ... where this is 0; else its length with the terminator
  std::ptrdiff_t comm_index;        // in the process's list: c_contextid in 4.1, then c_index
  std::ptrdiff_t comm_my_rank;
  std::ptrdiff_t comm_flags;
  std::ptrdiff_t comm_local_comm;
  std::ptrdiff_t comm_local_group;
  std::ptrdiff_t comm_remote_group;
  std::ptrdiff_t comm_peruse_handles;
  std::ptrdiff_t comm_pml;
  std::ptrdiff_t comm_collectives;
  std::ptrdiff_t comm_nonblocking_tag;

  // mca_pml_base_request_t (ompi/mca/pml/base/pml_base_request.h), and pml/ob1's receive request.
  std::ptrdiff_t request_process;
  std::ptrdiff_t request_received_bytes;
  std::ptrdiff_t message_first_segment_length;  // in its mca_pml_ob1_recv_frag_t

  // Functions in mca_pml_base_module_t (ompi/mca/pml/pml.h).
  std::ptrdiff_t pml_irecv_init;
  std::ptrdiff_t pml_irecv;
  std::ptrdiff_t pml_recv;
  std::ptrdiff_t pml_isend_init;
  std::ptrdiff_t pml_isend;
  std::ptrdiff_t pml_send;
  std::ptrdiff_t pml_iprobe;
  std::ptrdiff_t pml_start;
  std::ptrdiff_t pml_imrecv;
  std::ptrdiff_t pml_mrecv;

  // ompi_win_t (ompi/win/win.h).
  std::ptrdiff_t window_group;
  std::ptrdiff_t window_module;

  // The first tag of non-blocking collectives (ompi/mca/coll/base/coll_tags.h).
  std::ptrdiff_t tag_nonblocking_base;
};

}  // namespace fathom::openmpi
