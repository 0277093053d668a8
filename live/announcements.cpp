// SPDX-License-Identifier: BSD-3-Clause
#include "live/announcements.h"

#include <poll.h>

#include <cerrno>

#include "live/announcement.h"

namespace fathom::live {
namespace {

constexpr int kMostWaiting = 4096;  // as many as Linux allows by default
constexpr int kAnnounceWithin_ms = 200;
constexpr int kMostAtOnce = 16;

// The first descriptor that came with a message; further ones are closed. -1: none.
int received_descriptor(int connected) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  pollfd ready{connected, POLLIN, 0};
  if (poll(&ready, 1, kAnnounceWithin_ms) <= 0 ||
      recvmsg(connected, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0)
    return -1;
  int found = -1;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
      if (found < 0) {
        found = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
  return found;
}

}  // namespace

Announcements Announcements::of(const std::string& run) {
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return {};
  const AnnouncementName name = announcement_name(run);
  if (bind(made, reinterpret_cast<const sockaddr*>(&name.address), name.size) == 0 &&
      listen(made, kMostWaiting) == 0)
    return Announcements(made);
  close(made);
  return {};
}

Announcements::~Announcements() {
  if (listening_ >= 0) close(listening_);
}

std::optional<Announcements::Page> Announcements::next() {
  for (int tries = 0; descriptor() >= 0 && tries < kMostAtOnce; ++tries) {
    const int connected = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connected < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN) deaf_until_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      return std::nullopt;
    }
    const ucred peer = peer_of(connected);
    const int page = peer.uid == geteuid() ? received_descriptor(connected) : -1;
    close(connected);
    if (page >= 0) return Page{peer.pid, page};
  }
  return std::nullopt;
}

}  // namespace fathom::live
