// SPDX-License-Identifier: BSD-3-Clause
#include "profile/trace_loss.h"

#include <algorithm>

#include "base/words.h"

namespace fathom::profile {
namespace {

constexpr char kMemory[] = "memory", kSize[] = "size", kUnwritten[] = "unwritten",
               kNoTrace[] = "no-trace";

std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

bool is_about_files(const TraceLoss& loss) {
  return loss.reason == kUnwritten || loss.reason == kNoTrace;
}

void add_trace_loss(const std::string& text, std::vector<TraceLoss>& losses) {
  TraceLoss own;
  base::Words words(text);
  own.reason = words.next();
  // Damaged text is ignored, because what else the process left is still worth reading.
  if (!words.next(own.records)) return;
  own.error = words.rest();
  // Different errors stay apart: each has its own remedy.
  const auto same = [&own](const TraceLoss& other) {
    return other.reason == own.reason && other.error == own.error;
  };
  auto found = std::find_if(losses.begin(), losses.end(), same);
  if (found == losses.end()) found = losses.insert(losses.end(), {own.reason, own.error, 0, 0});
  found->ranks += 1;
  found->records += own.records;
}

std::string sentence(const TraceLoss& loss, const std::string& trace) {
  const std::string ranks = plural(static_cast<std::uint64_t>(loss.ranks), "rank");
  const std::string records =
      trace + " is incomplete: " + plural(loss.records, "record") + " of " + ranks;
  const std::string error = loss.error.empty() ? "" : " (" + loss.error + ")";
  if (loss.reason == kMemory) {
    return records +
           " did not fit into memory; raise FATHOM_TRACE_MEMORY, or set FATHOM_TRACE_LEVEL=calls";
  }
  if (loss.reason == kSize) {
    return records +
           " came after their files had reached FATHOM_TRACE_SIZE; raise it, or choose "
           "what to record";
  }
  const std::string advice =
      "; free disk space or name another directory with FATHOM_OUTPUT, or record less: "
      "FATHOM_TRACE_LEVEL=calls, FATHOM_TRACE_FUNCTIONS, FATHOM_TRACE_RANKS";
  if (loss.reason == kUnwritten) return records + " could not be written" + error + advice;
  if (loss.reason == kNoTrace) {
    return trace + " is incomplete: " + ranks + " could not make " +
           (loss.ranks == 1 ? "its" : "their") + " files" + error + advice;
  }
  return records + " are missing: " + loss.reason + error;
}

}  // namespace fathom::profile
