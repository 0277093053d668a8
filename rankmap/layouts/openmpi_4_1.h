// SPDX-License-Identifier: BSD-3-Clause
// Open MPI 4.1.0 to 4.1.8. Written by rankmap/write_layouts.py from the internal headers of Open
// MPI 4.1. Do not edit.
#pragma once

#include "rankmap/layouts/layout.h"

namespace fathom::openmpi {

inline constexpr Layout kOpenMpi_4_1{
    .first = {4, 1, 0},
    .last = {4, 1, 8},
    .comm_name = 160,
    .comm_name_inside = 64,
    .comm_index = 224,
    .comm_my_rank = 228,
    .comm_flags = 232,
    .comm_local_comm = 264,
    .comm_local_group = 248,
    .comm_remote_group = 256,
    .comm_peruse_handles = 304,
    .comm_pml = 328,
    .comm_collectives = 336,
    .comm_nonblocking_tag = 344,
    .request_process = 480,
    .request_received_bytes = 520,
    .message_first_segment_length = 144,
    .pml_irecv_init = 48,
    .pml_irecv = 56,
    .pml_recv = 64,
    .pml_isend_init = 72,
    .pml_isend = 80,
    .pml_send = 88,
    .pml_iprobe = 96,
    .pml_start = 112,
    .pml_imrecv = 136,
    .pml_mrecv = 144,
    .window_group = 224,
    .window_module = 272,
    .tag_nonblocking_base = -27,
};

}  // namespace fathom::openmpi
