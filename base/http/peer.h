// SPDX-License-Identifier: BSD-3-Clause
// Who is at the other end of a connection on this machine.
#pragma once

#include <optional>

#include <sys/types.h>

namespace fathom::base {

// The user of the process that connected `socket`, over a Unix socket or the loopback interface; nothing if
// the kernel does not say. Costs a look through /proc/net/tcp.
std::optional<uid_t> peer_user(int socket);

}  // namespace fathom::base
