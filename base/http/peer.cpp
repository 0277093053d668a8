// SPDX-License-Identifier: BSD-3-Clause
#include "base/http/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace fathom::base {
namespace {

// "0100007F:1F90": how /proc/net/tcp writes an address, in words of this machine's byte order.
std::string as_in_proc(const sockaddr_storage& address) {
  std::array<char, 48> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    std::snprintf(text.data(), text.size(), "%08X:%04X", v4.sin_addr.s_addr, ntohs(v4.sin_port));
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), &v6.sin6_addr, sizeof words);
    std::snprintf(text.data(), text.size(), "%08X%08X%08X%08X:%04X", words[0], words[1], words[2],
                  words[3], ntohs(v6.sin6_port));
  }
  return text.data();
}

std::optional<uid_t> user_in(const char* path, const std::string& theirs, const std::string& ours) {
  std::ifstream table(path);
  std::string line;
  while (std::getline(table, line)) {
    // The other end's own row: its local address is our peer.
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits;
    uid_t user = 0;
    if (!(fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user))
      continue;
    if (local == theirs && remote == ours) return user;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uid_t> peer_user(int socket) {
  sockaddr_storage theirs{}, ours{};
  socklen_t size = sizeof theirs;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) return std::nullopt;
  if (theirs.ss_family == AF_UNIX) {
    ucred credentials{};
    size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return credentials.uid;
  }
  // TCP has no SO_PEERCRED, so the kernel's list of connections has to say whose the other end is.
  size = sizeof ours;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) return std::nullopt;
  return user_in(theirs.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6",
                 as_in_proc(theirs), as_in_proc(ours));
}

}  // namespace fathom::base
