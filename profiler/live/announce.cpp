// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/live/announce.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "live/announcement.h"
#include "profiler/process/companion.h"

namespace fathom::profiler {
namespace {

constexpr int kBacklog = 4096;
// Between bind and listen of another rank there are some microseconds.
constexpr int kTries = 5;
constexpr timespec kBetweenTries{0, 1'000'000};

class Socket {
 public:
  Socket() : descriptor_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    if (descriptor_ < 0 || descriptor_ > STDERR_FILENO) return;
    // The program has closed that one; a companion's own output takes its place.
    const int higher = fcntl(descriptor_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor_);
    descriptor_ = higher;
  }
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void give(int connected, int page) {
  char byte = 'p';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof page);
  std::memcpy(CMSG_DATA(rights), &page, sizeof page);
  (void)!sendmsg(connected, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

enum class Told { kYes, kNobodyListens, kInVain };

Told tell_listener(const live::AnnouncementName& name, const LivePage& page) {
  const Socket own;
  if (connect(own.descriptor(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0)
    return errno == ECONNREFUSED ? Told::kNobodyListens : Told::kInVain;
  // Another user may have taken the name: a process that gets the page can write to it.
  if (live::peer_of(own.descriptor()).uid != geteuid()) return Told::kInVain;
  give(own.descriptor(), page.descriptor());
  return Told::kYes;
}

// False if another rank of this host is about to.
bool start_sampler(const live::AnnouncementName& name, const std::string& run_directory) {
  const Socket listening;
  if (bind(listening.descriptor(), reinterpret_cast<const sockaddr*>(&name.address), name.size) !=
      0)
    return errno != EADDRINUSE;
  if (listen(listening.descriptor(), kBacklog) != 0) return true;
  start_companion({"fathom-sampler", std::to_string(listening.descriptor()),
                   std::to_string(getpid()), run_directory},
                  {listening.descriptor()});
  return true;
}

bool wants_sampler() {
  const char* value = std::getenv("FATHOM_LIVE");
  return value != nullptr && std::strcmp(value, "sampled") == 0;
}

}  // namespace

void announce(const LivePage& page, const std::string& run_directory) {
  const live::AnnouncementName name = live::announcement_name(run_directory);
  if (tell_listener(name, page) != Told::kNobodyListens || !wants_sampler()) return;
  const bool was_decided = start_sampler(name, run_directory);
  for (int tries = 0; tell_listener(name, page) == Told::kNobodyListens; ++tries) {
    if (was_decided || tries == kTries) return;
    nanosleep(&kBetweenTries, nullptr);
  }
}

}  // namespace fathom::profiler
