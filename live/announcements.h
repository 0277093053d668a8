// SPDX-License-Identifier: BSD-3-Clause
// The processes of a run that say on this host that they are there (live/announcement.h).
//
// Threading: one thread. A process that is stopped while it announces itself costs 0.2 s once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace fathom::live {

class Announcements {
 public:
  Announcements() = default;  // hears nothing
  // Hears nothing if another process listens already, or the system refuses.
  static Announcements of(const std::string& run);
  // Takes over a socket that listens.
  explicit Announcements(int listening) : listening_(listening) {}
  ~Announcements();
  Announcements(Announcements&& other) noexcept : listening_(std::exchange(other.listening_, -1)) {}
  Announcements& operator=(Announcements&& other) noexcept {
    std::swap(listening_, other.listening_);
    return *this;
  }

  // Readable when somebody has come; -1: nothing is heard, for a second also because there was no
  // descriptor left for the process that has come.
  int descriptor() const {
    return std::chrono::steady_clock::now() < deaf_until_ ? -1 : listening_;
  }

  struct Page {
    pid_t pid;
    int descriptor;  // the caller's; nothing is known of what it is
  };
  // The next one, without waiting; nothing if there is none, or after many that were none.
  std::optional<Page> next();

 private:
  int listening_ = -1;
  std::chrono::steady_clock::time_point deaf_until_{};
};

}  // namespace fathom::live
