// SPDX-License-Identifier: BSD-3-Clause
// The payload of the definitions frame that a tool writes for one process.
#pragma once

#include <cstddef>
#include <string>

#include "trace/communicator_rows.h"
#include "trace/definitions.h"

namespace fathom::trace {

std::string definitions_payload(const Definitions& definitions, std::size_t process,
                                const ProcessCommunicators& communicators);

}  // namespace fathom::trace
