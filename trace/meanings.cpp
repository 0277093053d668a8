// SPDX-License-Identifier: BSD-3-Clause
#include "trace/meanings.h"

#include <algorithm>

namespace fathom::trace {
namespace {

bool has(const std::vector<Attribute>& attributes, Attribute wanted) {
  return std::find(attributes.begin(), attributes.end(), wanted) != attributes.end();
}

bool states_sequence(const Function& function, mpi::Sequence sequence) {
  switch (sequence) {
    case mpi::Sequence::kWindow: return has(function.enter, Attribute::kWindow);
    case mpi::Sequence::kFile: return has(function.enter, Attribute::kFile);
    case mpi::Sequence::kNewCommunicator: return has(function.leave, Attribute::kNewCommunicator);
    case mpi::Sequence::kJob: return true;
    case mpi::Sequence::kNone:
    case mpi::Sequence::kCommunicator: break;
  }
  return has(function.enter, Attribute::kCommunicator);
}

}  // namespace

mpi::Meaning meaning_of(const Function& function) {
  mpi::Meaning meaning = mpi::meaning_of(function.name);
  meaning.group = function.group;
  const bool makes = meaning.nonblocking() || meaning.persistent();
  if (makes && !has(function.leave, Attribute::kRequest)) meaning.requests = mpi::Requests::kNone;
  if (!states_sequence(function, meaning.sequence)) {
    meaning.sequence = mpi::Sequence::kNone;
    meaning.flow = mpi::Flow::kNone;
  }
  return meaning;
}

std::vector<mpi::Meaning> meanings(const Definitions& definitions) {
  std::vector<mpi::Meaning> all;
  all.reserve(definitions.functions.size());
  for (const Function& function : definitions.functions) all.push_back(meaning_of(function));
  return all;
}

}  // namespace fathom::trace
