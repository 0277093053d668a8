#include "trace/imported_function.h"

namespace fathom::trace {
namespace {

std::vector<Attribute> attributes_at_enter(Group group) {
  switch (group) {
    case Group::kSend:
    case Group::kReceive:
      return {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag, Attribute::kBytes};
    case Group::kSendReceive:
      return {Attribute::kCommunicator, Attribute::kPeer,  Attribute::kTag,   Attribute::kBytes,
              Attribute::kPeer2,        Attribute::kTag2, Attribute::kBytes2};
    case Group::kCollective:
      return {Attribute::kCommunicator, Attribute::kRoot, Attribute::kBytes, Attribute::kBytes2};
    default: return {};
  }
}

}  // namespace

Function imported_function(std::string_view name) {
  const mpi::Meaning& meaning = mpi::meaning_of(name);
  Function function;
  function.name = name;
  function.group = meaning.group;
  function.enter = attributes_at_enter(meaning.group);
  if (meaning.group == Group::kCompletion) function.leave.push_back(Attribute::kCompleted);
  if (meaning.nonblocking() || meaning.persistent()) function.leave.push_back(Attribute::kRequest);
  return function;
}

}  // namespace fathom::trace
