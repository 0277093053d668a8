// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/keeper/window_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "profile/rows.h"
#include "profiler/process/run_directory.h"
#include "profiler/recording/definitions_writer.h"
#include "trace/format/frame_file.h"

namespace fathom::profiler {
namespace {

constexpr int kCompressionLevel = 1;

std::vector<char> content_of(int descriptor) {
  struct stat facts {};
  std::vector<char> bytes;
  if (fstat(descriptor, &facts) != 0) return bytes;
  bytes.resize(static_cast<std::size_t>(facts.st_size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got =
        pread(descriptor, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

// Calls take(frame, payload) for each whole frame of definitions: the process may be writing another
// one, or have ended while it did. Stops at the first that returns false.
template <typename Take>
bool for_each_frame(const std::vector<char>& bytes, Take&& take) {
  trace::FrameHeader frame;
  for (std::size_t at = sizeof(trace::FileHeader);
       at <= bytes.size() && bytes.size() - at >= sizeof frame;) {
    std::memcpy(&frame, bytes.data() + at, sizeof frame);
    const std::size_t stored = (std::size_t{frame.stored_bytes} + 7) / 8 * 8;
    if (std::memcmp(frame.magic, trace::kFrameMagic, sizeof frame.magic) != 0 ||
        bytes.size() - at - sizeof frame < stored ||
        frame.stored_bytes < sizeof(profile::RowsHeader))
      break;
    if (!take(frame, bytes.data() + at + sizeof frame)) return false;
    at += sizeof frame + stored;
  }
  return true;
}

// The last of their headers is returned in `header`.
bool copy_definitions(const std::vector<char>& from, trace::FrameFile& to,
                      profile::RowsHeader& header) {
  bool found = false;
  const bool written =
      for_each_frame(from, [&](const trace::FrameHeader& frame, const char* payload) {
        std::memcpy(&header, payload, sizeof header);
        found = true;
        return to.append(frame, payload, frame.stored_bytes, nullptr);
      });
  if (!found) errno = ENODATA;
  return found && written;
}

std::string opening_text(const KeptMemory& memory, const BeforeWindow& before) {
  std::string text = "dropped " + std::to_string(before.records()) + "\nlost " +
                     std::to_string(memory.lost()) + "\n";
  if (before.exact()) text += "opening exact\n";
  for (const auto& [thread, phases] : before.open_phases()) {
    for (const std::uint32_t phase : phases)
      text += "open-phase " + std::to_string(thread) + " " + std::to_string(phase) + "\n";
  }
  return text;
}

bool write_frames(trace::FrameFile& file, const KeptMemory& memory, BeforeWindow& before,
                  const std::vector<char>& definitions, const std::deque<trace::ClockRow>& clocks) {
  profile::RowsHeader header{};
  if (!copy_definitions(definitions, file, header)) return false;
  trace::Compressor compressor(kCompressionLevel);
  for (const KeptChunk& chunk : memory.copy()) {
    if (!file.append(chunk.frame, chunk.words.data(), chunk.words.size() * sizeof(std::uint64_t),
                     &compressor))
      return false;
  }
  DefinitionsFrame last(header);
  last.text(opening_text(memory, before));
  if (before.exact()) {
    const auto channels = before.channels();
    const auto sequences = before.sequences();
    last.rows(static_cast<profile::Section>(trace::kOpeningChannelSection), channels.data(),
              channels.size());
    last.rows(static_cast<profile::Section>(trace::kOpeningSequenceSection), sequences.data(),
              sequences.size());
    const auto held = before.held();
    last.rows(static_cast<profile::Section>(trace::kOpeningHeldSection), held.data(), held.size());
  }
  const std::vector<trace::ClockRow> rows(clocks.begin(), clocks.end());
  last.clocks(rows.data(), rows.size());
  return last.append_to(file) && file.finish();
}

}  // namespace

trace::ProcessDefinitions definitions_in(int descriptor) {
  trace::ProcessDefinitions definitions;
  for_each_frame(content_of(descriptor), [&](const trace::FrameHeader& frame, const char* payload) {
    definitions.add(payload, frame.stored_bytes);
    return true;
  });
  return definitions;
}

bool write_window(const std::string& folder, const KeptMemory& memory, BeforeWindow& before,
                  int definitions, const std::deque<trace::ClockRow>& clocks) {
  const std::vector<char> defined = content_of(definitions);
  if (defined.size() < sizeof(trace::FileHeader)) return false;
  const std::string trace = folder + "/trace";
  if (!make_directories(trace)) return false;
  const std::uint32_t job = memory.header().job, rank = memory.header().rank;
  const std::string path =
      trace + "/" + std::to_string(job) + "." + std::to_string(rank) + ".trace";
  const std::string part = path + ".part";
  unlink(part.c_str());
  trace::FrameFile file;
  if (file.open(part.c_str(), job, rank) && write_frames(file, memory, before, defined, clocks) &&
      rename(part.c_str(), path.c_str()) == 0)
    return true;
  const int error = errno;
  file.remove();
  unlink(part.c_str());
  errno = error;
  return false;
}

}  // namespace fathom::profiler
