// SPDX-License-Identifier: BSD-3-Clause
// Copies a process's page (live/page.h) and checks the copy.
//
// Nothing of the page is trusted: sizes and offsets are checked against the file, everything is read
// with pread into memory of our own, and rows go through the reader of row files, which is safe for
// any bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "live/page.h"
#include "live/queue_lengths.h"
#include "profile/rows.h"

namespace fathom::live {

// A ThreadLine as read at one moment.
struct ThreadCopy {
  std::string function;  // empty: the program computes
  std::uint64_t site = 0;
  std::uint64_t since_ns = 0;
  std::uint64_t calls = 0;
  std::uint32_t communicator = kNoCommunicator;
  std::int32_t root = kNoRank;
  std::uint64_t bytes = 0, collective = 0;
  bool waits_for_all = false;
  std::vector<PendingLine> pending;
  std::uint64_t pending_left_out = 0;
};

struct PageCopy {
  profile::RowsHeader rows{};
  std::uint64_t process_started = 0;
  PageState state = PageState::kStarting;
  bool is_incomplete = false;  // parts of the counts lie in memory that is not shared
  std::uint64_t channels_left_out = 0;
  std::string run;
  // SectionHeaders with payloads, padded: what follows a RowsHeader in a row file.
  std::string sections;
  std::vector<ThreadCopy> threads;
  std::vector<ChannelRow> channels;
  QueuesCopy queues;
};

// A page with more than this is refused.
inline constexpr std::uint64_t kMostPageBytes = std::uint64_t{1} << 30;

// Only the header's part: no sections, threads or channels. Cheap.
base::Result<PageCopy> read_page_header(int descriptor);
base::Result<PageCopy> read_page(int descriptor);

// The page's counts as the file that a process leaves when it is cut short.
std::string row_file(const PageCopy& page, profile::EndReason reason, std::uint32_t detail);

}  // namespace fathom::live
