// SPDX-License-Identifier: BSD-3-Clause
// Alpha and beta of this run: how long a message takes, as alpha + beta * bytes.
//
// Measured with the program's own messages whose receiver was there already: the call in which the
// message arrived was entered, and its receive posted, before the call that sends it was entered.
// What lies between that and the arrival is the library's work at both ends and the wire. Of each
// size (powers of two) the median counts; alpha and beta >= 0 have the least sum of squared
// relative errors at these medians.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

struct TransferModel {
  double alpha_ns = 0, beta_ns_per_byte = 0;
  std::uint64_t messages = 0;  // that measured it; 0: nothing is known
};

// The same at every process. Collective over the job's transport.
TransferModel fit_transfers(JoinedJob& job);

}  // namespace fathom::analysis
