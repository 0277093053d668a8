// SPDX-License-Identifier: BSD-3-Clause
// Writes a profile.json (docs/profile-format.md) as a stream: memory grows with one block of
// traffic, never with the whole profile, and the file appears under its name only when complete.
//
// Order of calls: open, begin, add(CallTimes), add(CallWaits), add(CriticalPath), add(Traffic),
// add(MessageSizes), each any number of times, finish. A call out of order is an Error. After any Error the writer is closed, its
// temporary file is removed, and an earlier file at the path is still there.
//
// Also linked into the preloaded library: prints nothing, lets no exception out (lack of memory is
// an Error), consults no locale. Threading: one thread at a time. The same input gives the same
// bytes: keys in the documented order, rows by (source, destination) or (rank, awaited). In text that is not UTF-8 (a
// file name may hold any bytes), each offending byte becomes U+FFFD.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::profile {

// Traffic and waits with more rows are split, so that a reader never needs more than one such block in memory.
inline constexpr std::size_t kBlockRows = 65'536;

class Writer {
 public:
  Writer();
  ~Writer();  // without finish(), leaves nothing behind
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  // The folder must exist. finish() replaces a regular file that already has the name.
  base::Status open(const std::string& path);

  // Writes everything except header.coverage, which is usually known only after the traffic.
  base::Status begin(const Header& header);

  // The columns must have equal lengths; without rows, no block of traffic or waits is written.
  base::Status add(const CallTimes& calls);
  base::Status add(const CallWaits& waits);
  base::Status add(const CriticalPath& path);
  base::Status add(const Traffic& traffic);
  base::Status add(const MessageSizes& sizes);

  base::Status finish(const Coverage& coverage);

 private:
  struct Stream;
  enum class StreamPart;
  template <typename Step>
  base::Status guarded(Step step);
  template <typename Block, typename Write>
  base::Status add_to(StreamPart part, const char* name, const Block& block, Write write);

  std::unique_ptr<Stream> stream_;
};

base::Status write_profile(const Profile& profile, const std::string& path);

}  // namespace fathom::profile
