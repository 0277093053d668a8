#include "trace/mpi_functions.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace fathom::trace {
namespace {

constexpr std::string_view kSends[] = {"Send", "Bsend", "Ssend", "Rsend"};
constexpr std::string_view kCollectives[] = {
    "Barrier",    "Bcast",     "Gather",     "Gatherv",   "Scatter",   "Scatterv",       "Allgather",
    "Allgatherv", "Alltoall",  "Alltoallv",  "Alltoallw", "Reduce",    "Allreduce",      "Reduce_scatter",
    "Scan",       "Exscan",    "Reduce_scatter_block",    "Neighbor_allgather",          "Neighbor_allgatherv",
    "Neighbor_alltoall",       "Neighbor_alltoallv",      "Neighbor_alltoallw"};

template <typename Names>
bool among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// "Isend" -> "Send": the blocking function's name, or empty.
std::string without_i(std::string_view name) {
  if (name.size() < 2 || name[0] != 'I') return "";
  std::string rest(name.substr(1));
  rest[0] = static_cast<char>(rest[0] & ~0x20);
  return rest;
}

}  // namespace

Function function_by_name(std::string_view full_name) {
  Function function;
  function.name = full_name;
  std::string_view name = full_name.starts_with("MPI_") ? full_name.substr(4) : full_name;
  const bool makes = name.ends_with("_init");
  if (makes) name.remove_suffix(5);
  const std::string blocking = without_i(name);
  const bool returns_request = makes || among(kSends, blocking) || among(kCollectives, blocking) ||
                               blocking == "Recv" || blocking == "Mrecv";
  const std::vector<Attribute> message = {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag,
                                          Attribute::kBytes};
  if (among(kSends, name) || among(kSends, blocking)) {
    function.group = Group::kSend;
    function.enter = message;
  } else if (name == "Recv" || name == "Mrecv" || blocking == "Recv" || blocking == "Mrecv") {
    function.group = Group::kReceive;
    function.enter = message;
  } else if (name.starts_with("Sendrecv")) {
    function.group = Group::kSendReceive;
    function.enter = message;
    function.enter.insert(function.enter.end(), {Attribute::kPeer2, Attribute::kTag2, Attribute::kBytes2});
  } else if (among(kCollectives, name) || among(kCollectives, blocking)) {
    function.group = Group::kCollective;
    function.enter = {Attribute::kCommunicator, Attribute::kRoot, Attribute::kBytes, Attribute::kBytes2};
  } else if (name.starts_with("Wait") || name.starts_with("Test")) {
    function.group = Group::kCompletion;
    function.leave = {Attribute::kCompleted};
  } else if (name.ends_with("robe")) {
    function.group = Group::kProbe;
  } else if (name.starts_with("File_")) {
    function.group = Group::kIo;
  } else if (name.starts_with("Win_") || name.ends_with("ut") || name == "Get" || name == "Rget" ||
             name.ends_with("ccumulate")) {
    function.group = Group::kOneSided;
  } else if (name.starts_with("Comm_") || name.starts_with("Cart_") || name.starts_with("Intercomm_")) {
    function.group = Group::kCommunicator;
  } else if (name == "Init" || name == "Init_thread" || name == "Finalize" || name == "Abort") {
    function.group = Group::kEnvironment;
  }
  if (returns_request) function.leave.push_back(Attribute::kRequest);
  return function;
}

}  // namespace fathom::trace
