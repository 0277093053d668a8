// SPDX-License-Identifier: BSD-3-Clause
// Alpha and beta of this run: the duration of a message as alpha + beta * bytes.
//
// Measured on the program's own messages whose receiver was ready: the call in which the message
// arrived was entered, and its receive posted, before the sending call was entered. The time from
// then to the arrival is the library's work at both ends plus the wire. The median counts for each
// size (powers of two); alpha and beta >= 0 minimise the sum of squared relative errors at these
// medians.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

struct TransferModel {
  double alpha_ns = 0, beta_ns_per_byte = 0;
  std::uint64_t messages = 0;  // number used for the fit; 0: nothing is known
};

// The same at every process. Collective over the job's transport.
TransferModel fit_transfers(JoinedJob& job);

}  // namespace fathom::analysis
