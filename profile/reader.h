// SPDX-License-Identifier: BSD-3-Clause
// Reads a profile.json (docs/profile-format.md) from any source, however damaged or hostile.
//
// read_profile() streams: memory is the header plus one block of traffic or waits, 65,536 rows in a
// file that Fathom wrote, or the path through one window. (A block's columns come one after the other, so a block must be in memory as a
// whole; in a foreign file it may be all of the traffic.) load_profile() keeps everything.
//
// Checked: the schema; that the columns of a block have equal lengths; that counts are whole and
// non-negative; that ranks are below world_size or the number of `ranks`, whichever is larger; that
// no rank or communicator is listed twice; and that traffic, calls, waits and paths name a known
// communicator and call site. Unknown keys are ignored, so that a later version may add some. An Error is one sentence: file, byte
// offset, what was expected.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::base {
class ByteSource;
}

namespace fathom::profile {

// Called while the file streams past, before all of it is checked. Ranks are non-negative, but only
// the Header that read_profile() returns guarantees their upper bound and the communicators.
class Visitor {
 public:
  virtual ~Visitor() = default;
  // The callee may move from a block; it is emptied afterwards.
  virtual void on_calls(CallTimes&) {}
  virtual void on_waits(CallWaits&) {}
  virtual void on_path(CriticalPath&) {}
  virtual void on_traffic(Traffic& block) = 0;
  virtual void on_message_sizes(MessageSizes& sizes) = 0;
};

base::Result<Header> read_profile(const std::string& path, Visitor& visitor);

// The same for bytes in memory or anywhere; `name`: the input's name in errors.
base::Result<Header> read_profile(base::ByteSource& source, const std::string& name,
                                  Visitor& visitor);

base::Result<Profile> load_profile(const std::string& path);
base::Result<Profile> load_profile(base::ByteSource& source, const std::string& name);

}  // namespace fathom::profile
