// SPDX-License-Identifier: BSD-3-Clause
// Open MPI 5.0.0 to 5.0.6, built without fault tolerance. Written by rankmap/write_layouts.py from
// the internal headers of Open MPI 5.0.7, without the field c_index_vec, which 5.0.7 inserted into
// the communicator, and as configure --with-ft=no leaves them. Do not edit.
#pragma once

#include "rankmap/layouts/layout.h"

namespace fathom::openmpi {

inline constexpr Layout kOpenMpi_5_0_0_noft{
    .first = {5, 0, 0},
    .last = {5, 0, 6},
    .comm_name = 160,
    .comm_name_inside = 0,
    .comm_index = 216,
    .comm_my_rank = 220,
    .comm_flags = 224,
    .comm_local_comm = 264,
    .comm_local_group = 248,
    .comm_remote_group = 256,
    .comm_peruse_handles = 288,
    .comm_pml = 312,
    .comm_collectives = 328,
    .comm_nonblocking_tag = 232,
    .request_process = 496,
    .request_received_bytes = 536,
    .message_first_segment_length = 168,
    .pml_irecv_init = 56,
    .pml_irecv = 64,
    .pml_recv = 72,
    .pml_isend_init = 80,
    .pml_isend = 88,
    .pml_send = 96,
    .pml_iprobe = 104,
    .pml_start = 120,
    .pml_imrecv = 144,
    .pml_mrecv = 152,
    .window_group = 224,
    .window_module = 272,
    .tag_nonblocking_base = -33,
};

}  // namespace fathom::openmpi
