// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/routines.h"

#include <cmath>

namespace fathom::analysis {
namespace {

struct RoutineRow {
  std::string_view name;
  std::uint32_t tree = 0;  // number of terms log2 p, and of n
};

// Names come from mpi/, because no other folder spells a function's name.
const RoutineRow kRoutineRows[kRoutines] = {
    {"(computation)"},
    {mpi::name_of(mpi::FunctionId::kSend)},
    {mpi::name_of(mpi::FunctionId::kIsend)},
    {mpi::name_of(mpi::FunctionId::kRecv)},
    {mpi::name_of(mpi::FunctionId::kIrecv)},
    {mpi::name_of(mpi::FunctionId::kSendrecv)},
    {mpi::name_of(mpi::FunctionId::kWait)},
    {mpi::name_of(mpi::FunctionId::kTest)},
    {mpi::name_of(mpi::FunctionId::kProbe)},
    {mpi::name_of(mpi::FunctionId::kBarrier), 1},
    {mpi::name_of(mpi::FunctionId::kBcast), 2},
    {mpi::name_of(mpi::FunctionId::kReduce), 2},
    {mpi::name_of(mpi::FunctionId::kAllreduce), 2},
    {mpi::name_of(mpi::FunctionId::kGather), 1},
    {mpi::name_of(mpi::FunctionId::kAllgather), 1},
    {mpi::name_of(mpi::FunctionId::kScatter), 1},
    {mpi::name_of(mpi::FunctionId::kReduceScatter), 1},
    {mpi::name_of(mpi::FunctionId::kAlltoall), 1},
    {mpi::name_of(mpi::FunctionId::kScan), 2},
    {"communicators", 1},
    {"(other)"},
};

Routine routine_of(mpi::Collective collective) {
  switch (collective) {
    case mpi::Collective::kBarrier: return Routine::kBarrier;
    case mpi::Collective::kBcast: return Routine::kBcast;
    case mpi::Collective::kReduceScatter:
    case mpi::Collective::kReduceScatterBlock: return Routine::kReduceScatter;
    case mpi::Collective::kReduce: return Routine::kReduce;
    case mpi::Collective::kAllreduce: return Routine::kAllreduce;
    case mpi::Collective::kGather:
    case mpi::Collective::kGatherv: return Routine::kGather;
    case mpi::Collective::kAllgather:
    case mpi::Collective::kAllgatherv: return Routine::kAllgather;
    case mpi::Collective::kScatter:
    case mpi::Collective::kScatterv: return Routine::kScatter;
    case mpi::Collective::kAlltoall:
    case mpi::Collective::kAlltoallv:
    case mpi::Collective::kAlltoallw: return Routine::kAlltoall;
    case mpi::Collective::kScan:
    case mpi::Collective::kExscan: return Routine::kScan;
    default: return Routine::kOther;
  }
}

}  // namespace

Routine routine_of(const mpi::Meaning& meaning) {
  switch (meaning.group) {
    case mpi::Group::kSend: return meaning.nonblocking() ? Routine::kIsend : Routine::kSend;
    case mpi::Group::kReceive:
      return meaning.nonblocking() ? Routine::kIreceive : Routine::kReceive;
    case mpi::Group::kSendReceive: return Routine::kSendReceive;
    case mpi::Group::kProbe: return Routine::kProbe;
    case mpi::Group::kCompletion:
      return meaning.tests()                                 ? Routine::kTest
             : meaning.completes == mpi::Completes::kNothing ? Routine::kOther
                                                             : Routine::kWait;
    default: break;
  }
  if (!meaning.in_sequence()) return Routine::kOther;
  if (meaning.group == mpi::Group::kCommunicator) return Routine::kCommunicator;
  return routine_of(meaning.collective);
}

bool communicates(Routine routine) {
  return routine != Routine::kOther && routine != Routine::kComputation;
}

std::string_view name_of(Routine routine) {
  return kRoutineRows[static_cast<std::size_t>(routine)].name;
}

std::uint32_t tree_terms(Routine routine) {
  return kRoutineRows[static_cast<std::size_t>(routine)].tree;
}

double log2_of_size(std::size_t processes) {
  return processes < 2 ? 0 : std::log2(static_cast<double>(processes));
}

}  // namespace fathom::analysis
