// SPDX-License-Identifier: BSD-3-Clause
// Where a process of a run announces itself to the one that keeps the run's pages on its host.
//
// A socket whose name lies in no file system and is the same for all processes of one user, run and
// network namespace (unix(7), abstract sockets). The process that keeps the pages listens there; a process
// that has made its page connects, sends the descriptor of the page and closes. The descriptor waits
// in the kernel, so what the process counts survives it from then on, even if it is killed before the
// listener has looked. Nothing is left when the listener ends.
//
// Everyone can find the name and bind it first, so both sides ask the kernel whether the other is the
// same user.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace fathom::live {

struct AnnouncementName {
  sockaddr_un address{};
  socklen_t size = 0;
};

// `run`: the run directory, as in the page.
inline AnnouncementName announcement_name(std::string_view run) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a: a name, no secret
  for (const char c : run) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  AnnouncementName name;
  name.address.sun_family = AF_UNIX;
  // The first byte is zero: abstract.
  const int length = std::snprintf(name.address.sun_path + 1, sizeof name.address.sun_path - 1,
                                   "fathom-live-%u-%016llx", static_cast<unsigned>(geteuid()),
                                   static_cast<unsigned long long>(hash));
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                     static_cast<std::size_t>(length));
  return name;
}

// Who listens, or listened when this socket connected; nobody if `pid` is 0.
inline ucred peer_of(int connected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return ucred{};
  return peer;
}

}  // namespace fathom::live
