// SPDX-License-Identifier: BSD-3-Clause
// The shareable file: the pages and the answers that they need, in one HTML file that opens from disk and asks
// for nothing.
//
// A security policy in it allows the one script and the one style sheet that it holds, by their hashes, and no
// connection. Answers lie in it as text that is not code, with every "<" escaped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "view/pages.h"
#include "view/session.h"

namespace fathom::view {

inline constexpr std::size_t kMostFileBytes = 20'000'000;

struct ShareableFile {
  std::string html;
  std::vector<std::string> left_out;         // questions whose answers are larger than 2 MB
  std::uint32_t levels = 0, all_levels = 0;  // of the timeline that found room
};

// The page with the session's first run; waits until its timeline is there. An Error if the run cannot be shown, or nothing
// fits.
base::Result<ShareableFile> shareable_file(Session& session, const Pages& pages);

}  // namespace fathom::view
