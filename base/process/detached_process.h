// SPDX-License-Identifier: BSD-3-Clause
// What a process that belongs to a rank of a job, but is none of its own, does first.
#pragma once

#include <sys/types.h>

#include <vector>

namespace fathom::base {

// Closes all other descriptors: the launcher waits until nobody holds the output of its ranks any
// more. Standard input, output and error become /dev/null.
void close_all_but(const std::vector<int>& kept);

// Ignores the signals that a batch system which ends the job sends to every process that it knows:
// this process ends with the ranks.
void ignore_end_of_job();

// The rank may be bound to a core, which this process must not take a part of. It may use those of the
// launcher as well.
void leave_core_of(pid_t rank);

// As many descriptors as the system lets this process have: one for each rank or host. What it starts
// afterwards inherits that.
void allow_most_descriptors();

}  // namespace fathom::base
