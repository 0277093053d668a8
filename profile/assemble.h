// SPDX-License-Identifier: BSD-3-Clause
// Turns the rows that the processes of a job left (rows.h) into one Profile and checks it.
//
// Every message is counted twice, independently: by its sender and by its receiver. If both ends of
// a pair of ranks reported, the pair's traffic comes from the receiver if receives were counted,
// else from the sender; if one end left nothing (killed, another world), it comes from the other.
// Coverage compares both witnesses, pair by pair.
//
// Any byte sequence is safe: rows that end early are used up to the last whole record.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::profile {

// The rows of any number of processes of one world, one after the other. An error if there is no
// whole header. Memory: about 40 bytes per (pair, class, communicator, phase) and witness.
base::Result<Profile> assemble(const char* rows, std::size_t size);

// For a run whose processes left their rows one by one, because it was cut short or MPI did not end
// with MPI_Finalize: reads RUN/partial/*.rows and writes RUN/profile.json.
enum class Assembled {
  kNothing,   // there are no such files
  kWhole,     // all processes came to their end
  kCutShort,  // coverage.cut_short says why
};
base::Result<Assembled> assemble_parts(const std::string& run_directory);

}  // namespace fathom::profile
