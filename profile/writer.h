// SPDX-License-Identifier: BSD-3-Clause
// Writes a profile.json (docs/profile-format.md) as a stream: memory follows one block of traffic,
// never the whole profile, and the file appears under its name only when it is complete.
//
// Order of calls: open, begin, add(Traffic) any number of times, add(MessageSizes) any number of
// times, finish. A call out of order is an Error. After any Error the writer is closed, its
// temporary file removed, and what stood at the path before is still there.
//
// Linked into the preloaded library: nothing is printed, no exception leaves (memory running out is
// an Error), no locale is consulted. Threading: one thread at a time. The same input gives the same
// bytes: keys in the documented order, rows by (source, destination). Text that is not UTF-8 (a
// file name may be anything) has each offending byte replaced by U+FFFD.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::profile {

// Traffic with more rows is split, so that a reader never needs more than one such block in memory.
inline constexpr std::size_t kBlockRows = 65'536;

class Writer {
 public:
  Writer();
  ~Writer();  // without finish(): nothing is left behind
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  // The folder must exist. A regular file that already has the name is replaced by finish().
  base::Status open(const std::string& path);

  // Everything but header.coverage, which is usually known only after the traffic.
  base::Status begin(const Header& header);

  // The columns must be of equal length; no rows, no block.
  base::Status add(const Traffic& traffic);
  base::Status add(const MessageSizes& sizes);

  base::Status finish(const Coverage& coverage);

 private:
  struct Stream;
  template <typename Step>
  base::Status guarded(Step step);

  std::unique_ptr<Stream> stream_;
};

base::Status write_profile(const Profile& profile, const std::string& path);

}  // namespace fathom::profile
