// SPDX-License-Identifier: BSD-3-Clause
// Source `peruse`: counts every message where it is actually received.
//
// Subscribes, per communicator, to four PERUSE events and decodes the receive request that each
// refers to; the event's own description holds only what was posted, not what arrived. What each
// event counts, with the lines of Open MPI 4.1.4 that cause it (ompi/mca/pml/ob1):
//
//   PERUSE_COMM_REQ_COMPLETE
//       Every message whose request the program still holds, including those of 0 bytes (for which
//       no XFER event fires). The request's status holds source, tag and length as matched, and the
//       full length if the receive was truncated (recv_request_pml_complete in
//       pml_ob1_recvreq.h:153). Cancelled receives are skipped (mca_pml_ob1_recv_request_cancel in
//       pml_ob1_recvreq.c).
//   PERUSE_COMM_REQ_XFER_END
//       A message of > 0 bytes for a request that the program has freed, which completes without
//       COMPLETE (pml_ob1_recvreq.h:179).
//   PERUSE_COMM_MSG_MATCH_POSTED_REQ
//       Any message for a freed request: one of 0 bytes fires nothing else, so it is counted as
//       empty here ...
//   PERUSE_COMM_REQ_XFER_BEGIN
//       ... and taken back here, in the same call chain, if it has bytes after all
//       (recv_req_matched in pml_ob1_recvreq.h:258).
//
// The length is not the request's req_bytes_packed: for a posted receive that an eager message in n
// segments matches, ob1 stores only "first segment's payload + n - 1" there, 1 for every message
// from a process to itself (mca_pml_ob1_recv_frag_callback_match in pml_ob1_recvfrag.c:427).
//
// The last three serve freed requests only, so they are registered with every communicator but fire
// only after a program first frees an active request (watch_freed_requests()); until then a message
// costs one callback.
// The library that records transfers uses these and six more, but has the two XFER events only where others do
// not tell the same (source_peruse.cpp).
//
// Probes fire the same events (mca_pml_ob1_recv_request_matched_probe completes a request of type
// PROBE, IPROBE, MPROBE or IMPROBE), so only requests of type RECV count.
//
// Threading: subscribe and unsubscribe under the lock of Communicators; callbacks on any thread.
#pragma once

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {

// False, with a sentence in `reason`, if this MPI library has no PERUSE.
bool open_peruse(const char*& reason);

// On: an active request is about to be freed. Off: only after the start-up check.
void watch_freed_requests(bool on);

void subscribe(Live& live);
void unsubscribe(Live& live);

}  // namespace fathom::profiler
