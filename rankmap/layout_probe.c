// SPDX-License-Identifier: BSD-3-Clause
/* Prints where one Open MPI keeps what Fathom reads, from that release's internal headers.
 *
 * For developers: rankmap/write_layouts.py compiles and runs it, and writes what it prints to
 * rankmap/layouts/. The library is built from those files alone, so that one build serves all
 * releases.
 *
 * usage: layout_probe common    what is equal in every release (layouts/common.h)
 *        layout_probe layout    the members of Layout (layouts/layout.h), which differ
 *
 * Fault tolerance, debugging and support of heterogeneous clusters, which configure switches on or
 * off, move fields as well: a layout holds for one combination.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* pml_base_recvreq.h includes this header, whose own includes no package installs. Unused here. */
#define _PERUSE_INTERNAL_H_

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/message/message.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/win/win.h"
#include "opal/class/opal_list.h"
#include "opal/mca/btl/btl.h"

/* The beginning of mca_pml_ob1_recv_request_t, copied because its header is not installed
 * (ompi/mca/pml/ob1/pml_ob1_recvreq.h). */
struct ob1_recv_request {
  mca_pml_base_recv_request_t req_recv;
  opal_ptr_t remote_req_send;
  int32_t req_lock;
  int32_t req_pipeline_depth;
  size_t req_bytes_received;
};

/* Where pml/ob1 keeps messages that no receive has matched: copies of mca_pml_ob1_comm_t and
 * mca_pml_ob1_comm_proc_t (pml_ob1_comm.h), message headers (pml_ob1_hdr.h) and
 * mca_pml_ob1_recv_frag_t (pml_ob1_recvfrag.h), because none of these headers is installed. */
struct ob1_comm {
  opal_object_t super;
  volatile uint32_t recv_sequence;
  opal_mutex_t matching_lock;
  opal_list_t wild_receives;
  opal_mutex_t proc_lock;
  struct ob1_comm_proc** procs;
  size_t num_procs;
};

struct ob1_comm_proc {
  opal_object_t super;
  struct ompi_proc_t* ompi_proc;
  uint16_t expected_sequence;
  volatile int32_t send_sequence;
  void* frags_cant_match;
  opal_list_t specific_receives;
  opal_list_t unexpected_frags;
};

struct ob1_match_header {
  uint8_t type, flags;
  uint16_t context;
  int32_t source, tag;
  uint16_t sequence;
#if OPAL_ENABLE_HETEROGENEOUS_SUPPORT
  uint8_t padding[2];
#endif
};

struct ob1_rendezvous_header {
  struct ob1_match_header match;
  uint64_t msg_length;
  opal_ptr_t source_request;
};

union ob1_header {
  struct ob1_rendezvous_header rendezvous;
#if OMPI_MAJOR_VERSION >= 5
  uint64_t longest[10]; /* mca_pml_ob1_ext_rget_hdr_t */
#else
  uint64_t longest[7]; /* mca_pml_ob1_rdma_hdr_t */
#endif
};

struct ob1_recv_frag {
  opal_free_list_item_t super;
  union ob1_header header;
  size_t num_segments;
  void* range;
  mca_btl_base_module_t* btl;
  mca_btl_base_segment_t segments[1];
};

/* Open MPI 5 moved the index of a communicator out of c_contextid, and made its name a pointer. */
#if OMPI_MAJOR_VERSION >= 5
#define INDEX_OF_COMMUNICATOR c_index
#define NAME_INSIDE 0
#else
#define INDEX_OF_COMMUNICATOR c_contextid
#define NAME_INSIDE sizeof(((ompi_communicator_t*)0)->c_name)
#endif

static int prints_layout;

static void section(const char* text) {
  if (!prints_layout) printf("\n// %s\n", text);
}

static void line(const char* name, long value) {
  if (!prints_layout) printf("inline constexpr std::ptrdiff_t %s = %ld;\n", name, value);
}

static void member(const char* name, long value) {
  if (prints_layout) printf("    .%s = %ld,\n", name, value);
}

#define AT(name, type, field) line(name, (long)offsetof(type, field))
#define DIFFERS(name, type, field) member(#name, (long)offsetof(type, field))

int main(int count, char** arguments) {
  prints_layout = count == 2 && strcmp(arguments[1], "layout") == 0;

  section("struct ompi_communicator_t (ompi/communicator/communicator.h)");
  DIFFERS(comm_name, ompi_communicator_t, c_name);
  member("comm_name_inside", NAME_INSIDE);
  DIFFERS(comm_index, ompi_communicator_t, INDEX_OF_COMMUNICATOR);
  DIFFERS(comm_my_rank, ompi_communicator_t, c_my_rank);
  DIFFERS(comm_flags, ompi_communicator_t, c_flags);
  DIFFERS(comm_local_comm, ompi_communicator_t, c_local_comm);
  DIFFERS(comm_local_group, ompi_communicator_t, c_local_group);
  DIFFERS(comm_remote_group, ompi_communicator_t, c_remote_group);
  DIFFERS(comm_peruse_handles, ompi_communicator_t, c_peruse_handles);
  DIFFERS(comm_pml, ompi_communicator_t, c_pml_comm);
  DIFFERS(comm_collectives, ompi_communicator_t, c_coll);
  DIFFERS(comm_nonblocking_tag, ompi_communicator_t, c_nbc_tag);
  line("kCommFlagInter", OMPI_COMM_INTER);
  line("kCommFlagNamed", OMPI_COMM_NAMEISSET);

  section("struct ompi_group_t (ompi/group/group.h), ompi_proc_t (ompi/proc/proc.h)");
  AT("kGroupSize", ompi_group_t, grp_proc_count);
  AT("kGroupFlags", ompi_group_t, grp_flags);
  AT("kGroupProcs", ompi_group_t, grp_proc_pointers);
  AT("kGroupParent", ompi_group_t, grp_parent_group_ptr);
  line("kGroupFlagDense", OMPI_GROUP_DENSE);
  AT("kProcJob", ompi_proc_t, super.proc_name.jobid);
  AT("kProcRank", ompi_proc_t, super.proc_name.vpid);

  section(
      "ompi_request_t (ompi/request/request.h) and the PML's base requests (ompi/mca/pml/base)");
  AT("kRequestComplete", ompi_request_t, req_complete);
  AT("kRequestPersistent", ompi_request_t, req_persistent);
  AT("kRequestState", ompi_request_t, req_state);
  line("kRequestCompleted", (long)REQUEST_COMPLETED);
  line("kRequestInactive", OMPI_REQUEST_INACTIVE);
  AT("kRequestStart", ompi_request_t, req_start);
  AT("kRequestFree", ompi_request_t, req_free);
  AT("kRequestCallback", ompi_request_t, req_complete_cb);
  AT("kRequestCallbackData", ompi_request_t, req_complete_cb_data);
  AT("kRequestObject", ompi_request_t, req_mpi_object);
  AT("kRequestSource", ompi_request_t, req_status.MPI_SOURCE);
  AT("kRequestTag", ompi_request_t, req_status.MPI_TAG);
  AT("kRequestCancelled", ompi_request_t, req_status._cancelled);
  AT("kRequestReceivedBytes", ompi_request_t, req_status._ucount);
  AT("kPmlRequestType", mca_pml_base_request_t, req_type);
  AT("kPmlRequestFreeCalled", mca_pml_base_request_t, req_free_called);
  line("kPmlRequestTypeReceive", MCA_PML_REQUEST_RECV);
  DIFFERS(request_process, mca_pml_base_request_t, req_proc);
  DIFFERS(request_received_bytes, struct ob1_recv_request, req_bytes_received);
  AT("kOb1WildReceives", struct ob1_comm, wild_receives);
  AT("kOb1Peers", struct ob1_comm, procs);
  AT("kOb1PeerCount", struct ob1_comm, num_procs);
  AT("kOb1ExpectedSequence", struct ob1_comm_proc, expected_sequence);
  AT("kOb1Posted", struct ob1_comm_proc, specific_receives);
  AT("kOb1Unexpected", struct ob1_comm_proc, unexpected_frags);
  AT("kOb1MessageType", struct ob1_recv_frag, header.rendezvous.match.type);
  AT("kOb1MessageTag", struct ob1_recv_frag, header.rendezvous.match.tag);
  AT("kOb1MessageLength", struct ob1_recv_frag, header.rendezvous.msg_length);
  DIFFERS(message_first_segment_length, struct ob1_recv_frag, segments[0].seg_len);
  /* OMPI_PML_OB1_MATCH_HDR_LEN: the size without the padding at the end. */
  line("kOb1MatchHeaderSize",
       offsetof(struct ob1_match_header, sequence) + (OPAL_ENABLE_HETEROGENEOUS_SUPPORT ? 4 : 2));
  line("kOb1TypeMatch", MCA_BTL_TAG_PML + 1);
  AT("kListEnd", opal_list_t, opal_list_sentinel);
  AT("kListNext", opal_list_item_t, opal_list_next);
  AT("kListLength", opal_list_t, opal_list_length);

  section("opal_free_list_t (opal/class/opal_free_list.h): mca_pml_base_recv_requests");
  AT("kFreeListMost", opal_free_list_t, fl_max_to_alloc);
  AT("kFreeListCount", opal_free_list_t, fl_num_allocated);
  AT("kFreeListBlockCount", opal_free_list_t, fl_num_per_alloc);
  AT("kFreeListItemSize", opal_free_list_t, fl_frag_size);
  AT("kFreeListAlignment", opal_free_list_t, fl_frag_alignment);
  AT("kFreeListClass", opal_free_list_t, fl_frag_class);
  AT("kFreeListBlocks", opal_free_list_t, fl_allocations);
  line("kFreeListBlockHeaderSize", sizeof(opal_free_list_item_t)); /* opal_free_list_memory_t */
  AT("kStatusSource", ompi_status_public_t, MPI_SOURCE);
  AT("kStatusTag", ompi_status_public_t, MPI_TAG);
  AT("kStatusBytes", ompi_status_public_t, _ucount);
  AT("kStatusCancelled", ompi_status_public_t, _cancelled);
  AT("kMessageComm", ompi_message_t, comm);

  section("mca_pml_base_module_t (ompi/mca/pml/pml.h): positions of the functions in mca_pml");
  AT("kPmlAddComm", mca_pml_base_module_t, pml_add_comm);
  AT("kPmlDelComm", mca_pml_base_module_t, pml_del_comm);
  DIFFERS(pml_irecv_init, mca_pml_base_module_t, pml_irecv_init);
  DIFFERS(pml_irecv, mca_pml_base_module_t, pml_irecv);
  DIFFERS(pml_recv, mca_pml_base_module_t, pml_recv);
  DIFFERS(pml_isend_init, mca_pml_base_module_t, pml_isend_init);
  DIFFERS(pml_isend, mca_pml_base_module_t, pml_isend);
  DIFFERS(pml_send, mca_pml_base_module_t, pml_send);
  DIFFERS(pml_iprobe, mca_pml_base_module_t, pml_iprobe);
  DIFFERS(pml_start, mca_pml_base_module_t, pml_start);
  DIFFERS(pml_imrecv, mca_pml_base_module_t, pml_imrecv);
  DIFFERS(pml_mrecv, mca_pml_base_module_t, pml_mrecv);
  AT("kPmlMaxTag", mca_pml_base_module_t, pml_max_tag);
  line("kPmlSendStandard", MCA_PML_BASE_SEND_STANDARD);

  section("ompi_datatype_t (ompi/datatype/ompi_datatype.h), mca_coll_base_comm_coll_t");
  AT("kDatatypeSize", ompi_datatype_t, super.size);
  AT("kObjectClass", opal_object_t, obj_class);
  AT("kClassName", opal_class_t, cls_name);
#define COLLECTIVE(name) AT("kModule_" #name, mca_coll_base_comm_coll_t, coll_##name##_module)
  COLLECTIVE(allgather);
  COLLECTIVE(allgatherv);
  COLLECTIVE(allreduce);
  COLLECTIVE(alltoall);
  COLLECTIVE(alltoallv);
  COLLECTIVE(alltoallw);
  COLLECTIVE(barrier);
  COLLECTIVE(bcast);
  COLLECTIVE(exscan);
  COLLECTIVE(gather);
  COLLECTIVE(gatherv);
  COLLECTIVE(reduce);
  COLLECTIVE(reduce_scatter_block);
  COLLECTIVE(reduce_scatter);
  COLLECTIVE(scan);
  COLLECTIVE(scatter);
  COLLECTIVE(scatterv);
  COLLECTIVE(iallgather);
  COLLECTIVE(iallgatherv);
  COLLECTIVE(iallreduce);
  COLLECTIVE(ialltoall);
  COLLECTIVE(ialltoallv);
  COLLECTIVE(ialltoallw);
  COLLECTIVE(ibarrier);
  COLLECTIVE(ibcast);
  COLLECTIVE(iexscan);
  COLLECTIVE(igather);
  COLLECTIVE(igatherv);
  COLLECTIVE(ireduce);
  COLLECTIVE(ireduce_scatter_block);
  COLLECTIVE(ireduce_scatter);
  COLLECTIVE(iscan);
  COLLECTIVE(iscatter);
  COLLECTIVE(iscatterv);
  COLLECTIVE(neighbor_allgather);
  COLLECTIVE(neighbor_allgatherv);
  COLLECTIVE(neighbor_alltoall);
  COLLECTIVE(neighbor_alltoallv);
  COLLECTIVE(neighbor_alltoallw);
  AT("kPmlComponentName", mca_pml_base_component_t, pmlm_version.mca_component_name);
  DIFFERS(window_group, ompi_win_t, w_group);
  DIFFERS(window_module, ompi_win_t, w_osc_module);

  section("MPI's own constants (ompi/include/mpi.h)");
  line("kSuccess", MPI_SUCCESS);
  line("kErrorTruncate", MPI_ERR_TRUNCATE);
  line("kAnySource", MPI_ANY_SOURCE);
  line("kAnyTag", MPI_ANY_TAG);
  line("kProcNull", MPI_PROC_NULL);

  section("Tags of messages inside collectives (ompi/mca/coll/base/coll_tags.h)");
  line("kTagAllgather", MCA_COLL_BASE_TAG_ALLGATHER);
  line("kTagScatterv", MCA_COLL_BASE_TAG_SCATTERV);
  member("tag_nonblocking_base", MCA_COLL_BASE_TAG_NONBLOCKING_BASE);
  line("kTagNonblockingEnd", MCA_COLL_BASE_TAG_NONBLOCKING_END);
  return 0;
}
