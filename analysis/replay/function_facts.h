// What a function of MPI means to an analysis, worked out once for each function of a run from its name, group
// and attributes, so that hot loops compare small numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/definitions.h"

namespace fathom::analysis {

// Who hands data to whom in a collective, and so who can wait for whom.
enum class Flow : std::uint8_t {
  kNone,      // no collective, or one whose members need not wait for each other
  kBarrier, kAllToAll,  // everybody waits for the last to enter
  kFromRoot,  // broadcast, scatter: everybody waits for the root
  kToRoot,    // reduce, gather: the root waits for the last of the others
  kPrefix,    // scan: rank r waits for the last of the ranks below it
};

// What a call does to the requests it is given.
enum class Completes : std::uint8_t {
  kNothing,
  kAll,   // waits for all: MPI_Wait, MPI_Waitall
  kSome,  // waits for the first: MPI_Waitany, MPI_Waitsome
  kTest,  // never waits
};

enum class Requests : std::uint8_t { kNone, kMakes, kMakesAndStarts, kStarts, kFrees };

struct FunctionFacts {
  trace::Group group = trace::Group::kOther;
  Flow flow = Flow::kNone;
  Completes completes = Completes::kNothing;
  Requests requests = Requests::kNone;
  bool collective = false;    // takes part in the sequence of collectives of its communicator
  bool synchronous = false;   // a send that waits for its receive at any length
  bool scatters = false;      // of kFromRoot: MPI_Scatter(v). Of kToRoot: gathers
};

std::vector<FunctionFacts> function_facts(const trace::Definitions& definitions);

}  // namespace fathom::analysis
