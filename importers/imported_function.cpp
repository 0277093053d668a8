// SPDX-License-Identifier: BSD-3-Clause
#include "importers/imported_function.h"

namespace fathom::importers {
namespace {

std::vector<trace::Attribute> attributes_at_enter(mpi::Group group) {
  switch (group) {
    case mpi::Group::kSend:
    case mpi::Group::kReceive:
      return {trace::Attribute::kCommunicator, trace::Attribute::kPeer, trace::Attribute::kTag,
              trace::Attribute::kBytes};
    case mpi::Group::kSendReceive:
      return {trace::Attribute::kCommunicator, trace::Attribute::kPeer,  trace::Attribute::kTag,
              trace::Attribute::kBytes,        trace::Attribute::kPeer2, trace::Attribute::kTag2,
              trace::Attribute::kBytes2};
    case mpi::Group::kCollective:
      return {trace::Attribute::kCommunicator, trace::Attribute::kRoot, trace::Attribute::kBytes,
              trace::Attribute::kBytes2};
    default: return {};
  }
}

}  // namespace

trace::Function imported_function(std::string_view name) {
  const mpi::Meaning& meaning = mpi::meaning_of(name);
  trace::Function function;
  function.name = name;
  function.group = meaning.group;
  function.enter = attributes_at_enter(meaning.group);
  if (meaning.group == mpi::Group::kCompletion)
    function.leave.push_back(trace::Attribute::kCompleted);
  if (meaning.nonblocking() || meaning.persistent())
    function.leave.push_back(trace::Attribute::kRequest);
  return function;
}

}  // namespace fathom::importers
