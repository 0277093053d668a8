// SPDX-License-Identifier: BSD-3-Clause
// What Fathom reads at the same place in every release that it knows. Written by
// rankmap/write_layouts.py from the internal headers of Open MPI, and equal for all layouts in this
// folder. Do not edit.
#pragma once

#include <cstddef>

namespace fathom::openmpi {

// struct ompi_communicator_t (ompi/communicator/communicator.h)
inline constexpr std::ptrdiff_t kCommFlagInter = 1;
inline constexpr std::ptrdiff_t kCommFlagNamed = 2;

// struct ompi_group_t (ompi/group/group.h), ompi_proc_t (ompi/proc/proc.h)
inline constexpr std::ptrdiff_t kGroupSize = 16;
inline constexpr std::ptrdiff_t kGroupFlags = 40;
inline constexpr std::ptrdiff_t kGroupProcs = 32;
inline constexpr std::ptrdiff_t kGroupParent = 48;
inline constexpr std::ptrdiff_t kGroupFlagDense = 4;
inline constexpr std::ptrdiff_t kProcJob = 40;
inline constexpr std::ptrdiff_t kProcRank = 44;

// ompi_request_t (ompi/request/request.h) and the PML's base requests (ompi/mca/pml/base)
inline constexpr std::ptrdiff_t kRequestComplete = 88;
inline constexpr std::ptrdiff_t kRequestPersistent = 100;
inline constexpr std::ptrdiff_t kRequestState = 96;
inline constexpr std::ptrdiff_t kRequestCompleted = 1;
inline constexpr std::ptrdiff_t kRequestInactive = 1;
inline constexpr std::ptrdiff_t kRequestStart = 112;
inline constexpr std::ptrdiff_t kRequestFree = 120;
inline constexpr std::ptrdiff_t kRequestCallback = 136;
inline constexpr std::ptrdiff_t kRequestCallbackData = 144;
inline constexpr std::ptrdiff_t kRequestObject = 152;
inline constexpr std::ptrdiff_t kRequestSource = 64;
inline constexpr std::ptrdiff_t kRequestTag = 68;
inline constexpr std::ptrdiff_t kRequestCancelled = 76;
inline constexpr std::ptrdiff_t kRequestReceivedBytes = 80;
inline constexpr std::ptrdiff_t kPmlRequestType = 168;
inline constexpr std::ptrdiff_t kPmlRequestFreeCalled = 164;
inline constexpr std::ptrdiff_t kPmlRequestTypeReceive = 2;
inline constexpr std::ptrdiff_t kOb1WildReceives = 88;
inline constexpr std::ptrdiff_t kOb1Peers = 216;
inline constexpr std::ptrdiff_t kOb1PeerCount = 224;
inline constexpr std::ptrdiff_t kOb1ExpectedSequence = 24;
inline constexpr std::ptrdiff_t kOb1Posted = 40;
inline constexpr std::ptrdiff_t kOb1Unexpected = 104;
inline constexpr std::ptrdiff_t kOb1MessageType = 56;
inline constexpr std::ptrdiff_t kOb1MessageTag = 64;
inline constexpr std::ptrdiff_t kOb1MessageLength = 72;
inline constexpr std::ptrdiff_t kOb1MatchHeaderSize = 14;
inline constexpr std::ptrdiff_t kOb1TypeMatch = 65;
inline constexpr std::ptrdiff_t kListEnd = 16;
inline constexpr std::ptrdiff_t kListNext = 16;
inline constexpr std::ptrdiff_t kListLength = 56;

// opal_free_list_t (opal/class/opal_free_list.h): mca_pml_base_recv_requests
inline constexpr std::ptrdiff_t kFreeListMost = 80;
inline constexpr std::ptrdiff_t kFreeListCount = 88;
inline constexpr std::ptrdiff_t kFreeListBlockCount = 96;
inline constexpr std::ptrdiff_t kFreeListItemSize = 112;
inline constexpr std::ptrdiff_t kFreeListAlignment = 120;
inline constexpr std::ptrdiff_t kFreeListClass = 144;
inline constexpr std::ptrdiff_t kFreeListBlocks = 256;
inline constexpr std::ptrdiff_t kFreeListBlockHeaderSize = 56;
inline constexpr std::ptrdiff_t kStatusSource = 0;
inline constexpr std::ptrdiff_t kStatusTag = 4;
inline constexpr std::ptrdiff_t kStatusBytes = 16;
inline constexpr std::ptrdiff_t kStatusCancelled = 12;
inline constexpr std::ptrdiff_t kMessageComm = 64;

// mca_pml_base_module_t (ompi/mca/pml/pml.h): positions of the functions in mca_pml
inline constexpr std::ptrdiff_t kPmlAddComm = 32;
inline constexpr std::ptrdiff_t kPmlDelComm = 40;
inline constexpr std::ptrdiff_t kPmlMaxTag = 172;
inline constexpr std::ptrdiff_t kPmlSendStandard = 4;

// ompi_datatype_t (ompi/datatype/ompi_datatype.h), mca_coll_base_comm_coll_t
inline constexpr std::ptrdiff_t kDatatypeSize = 24;
inline constexpr std::ptrdiff_t kObjectClass = 0;
inline constexpr std::ptrdiff_t kClassName = 0;
inline constexpr std::ptrdiff_t kModule_allgather = 8;
inline constexpr std::ptrdiff_t kModule_allgatherv = 24;
inline constexpr std::ptrdiff_t kModule_allreduce = 40;
inline constexpr std::ptrdiff_t kModule_alltoall = 56;
inline constexpr std::ptrdiff_t kModule_alltoallv = 72;
inline constexpr std::ptrdiff_t kModule_alltoallw = 88;
inline constexpr std::ptrdiff_t kModule_barrier = 104;
inline constexpr std::ptrdiff_t kModule_bcast = 120;
inline constexpr std::ptrdiff_t kModule_exscan = 136;
inline constexpr std::ptrdiff_t kModule_gather = 152;
inline constexpr std::ptrdiff_t kModule_gatherv = 168;
inline constexpr std::ptrdiff_t kModule_reduce = 184;
inline constexpr std::ptrdiff_t kModule_reduce_scatter_block = 216;
inline constexpr std::ptrdiff_t kModule_reduce_scatter = 200;
inline constexpr std::ptrdiff_t kModule_scan = 232;
inline constexpr std::ptrdiff_t kModule_scatter = 248;
inline constexpr std::ptrdiff_t kModule_scatterv = 264;
inline constexpr std::ptrdiff_t kModule_iallgather = 280;
inline constexpr std::ptrdiff_t kModule_iallgatherv = 296;
inline constexpr std::ptrdiff_t kModule_iallreduce = 312;
inline constexpr std::ptrdiff_t kModule_ialltoall = 328;
inline constexpr std::ptrdiff_t kModule_ialltoallv = 344;
inline constexpr std::ptrdiff_t kModule_ialltoallw = 360;
inline constexpr std::ptrdiff_t kModule_ibarrier = 376;
inline constexpr std::ptrdiff_t kModule_ibcast = 392;
inline constexpr std::ptrdiff_t kModule_iexscan = 408;
inline constexpr std::ptrdiff_t kModule_igather = 424;
inline constexpr std::ptrdiff_t kModule_igatherv = 440;
inline constexpr std::ptrdiff_t kModule_ireduce = 456;
inline constexpr std::ptrdiff_t kModule_ireduce_scatter_block = 488;
inline constexpr std::ptrdiff_t kModule_ireduce_scatter = 472;
inline constexpr std::ptrdiff_t kModule_iscan = 504;
inline constexpr std::ptrdiff_t kModule_iscatter = 520;
inline constexpr std::ptrdiff_t kModule_iscatterv = 536;
inline constexpr std::ptrdiff_t kModule_neighbor_allgather = 824;
inline constexpr std::ptrdiff_t kModule_neighbor_allgatherv = 840;
inline constexpr std::ptrdiff_t kModule_neighbor_alltoall = 856;
inline constexpr std::ptrdiff_t kModule_neighbor_alltoallv = 872;
inline constexpr std::ptrdiff_t kModule_neighbor_alltoallw = 888;
inline constexpr std::ptrdiff_t kPmlComponentName = 84;

// MPI's own constants (ompi/include/mpi.h)
inline constexpr std::ptrdiff_t kSuccess = 0;
inline constexpr std::ptrdiff_t kErrorTruncate = 15;
inline constexpr std::ptrdiff_t kAnySource = -1;
inline constexpr std::ptrdiff_t kAnyTag = -1;
inline constexpr std::ptrdiff_t kProcNull = -2;

// Tags of messages inside collectives (ompi/mca/coll/base/coll_tags.h)
inline constexpr std::ptrdiff_t kTagAllgather = -10;
inline constexpr std::ptrdiff_t kTagScatterv = -26;
inline constexpr std::ptrdiff_t kTagNonblockingEnd = -1073741822;

}  // namespace fathom::openmpi
