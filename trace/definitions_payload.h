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

// The same of call sites alone, for a frame that adds them later.
std::string sites_payload(const Definitions& definitions, std::size_t process,
                          const std::map<std::uint64_t, NamedSite>& sites);

}  // namespace fathom::trace
