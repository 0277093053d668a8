// SPDX-License-Identifier: BSD-3-Clause
// The files of a trace as a process leaves them, made frame by frame and chunk by chunk.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "profile/rows.h"
#include "test/unit/profile/rows_builder.h"
#include "trace/format/format.h"
#include "trace/format/frame_file.h"

namespace fathom::test {

inline constexpr std::uint32_t kTraceJob = 77;

using Words = std::vector<std::uint64_t>;

inline std::uint64_t record_head(trace::RecordKind kind, std::uint32_t words, std::uint32_t small,
                                 std::uint32_t ticks) {
  return trace::head(static_cast<std::uint32_t>(kind), words, small, ticks);
}

// `count` records kProcessor, `step` ticks apart, numbered on from `first`: simple events that show
// which are there.
inline Words numbered_records(std::uint32_t first, std::uint32_t count, std::uint32_t step = 10) {
  Words words;
  for (std::uint32_t i = 0; i < count; ++i) {
    words.push_back(record_head(trace::RecordKind::kProcessor, 0, first + i, i == 0 ? 0 : step));
  }
  return words;
}

// What a process defines, in the terms of rows_builder.h.
inline std::string definitions_rows(std::uint32_t rank, std::uint32_t world_size,
                                    const std::string& text = "",
                                    const std::vector<trace::ClockRow>& moments = {}) {
  RowsBuilder rows(rank, world_size);
  rows.header.job = kTraceJob;
  rows.text +=
      "clock monotonic\nlevel calls\nfunction 3 MPI_Barrier collective enter=comm leave=\n" + text;
  std::string bytes = rows.bytes();
  RowsBuilder::section(bytes, static_cast<profile::Section>(trace::kClockSection), moments.data(),
                       moments.size() * sizeof(trace::ClockRow));
  return bytes;
}

inline std::string trace_path(const std::string& folder, std::uint32_t rank,
                              const std::string& extension) {
  std::filesystem::create_directories(folder + "/trace");
  return folder + "/trace/" + std::to_string(kTraceJob) + "." + std::to_string(rank) + extension;
}

// One process's .trace file.
class TraceFile {
 public:
  TraceFile(const std::string& folder, std::uint32_t rank)
      : path(trace_path(folder, rank, ".trace")) {
    REQUIRE(file_.open(path.c_str(), kTraceJob, rank));
  }

  void definitions(const std::string& rows) {
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kDefinitions;
    REQUIRE(file_.append(header, rows.data(), rows.size(), nullptr));
  }

  void events(std::uint32_t thread, std::uint64_t sequence, std::uint64_t first_ticks,
              const Words& words, std::uint32_t records, bool compressed = false) {
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kEvents;
    header.thread = thread;
    header.records = records;
    header.sequence = sequence;
    header.first_ticks = first_ticks;
    header.last_ticks = first_ticks + 10 * records;
    offsets.push_back(file_.bytes());
    REQUIRE(
        file_.append(header, words.data(), words.size() * 8, compressed ? &compressor_ : nullptr));
  }

  void finish() { REQUIRE(file_.finish()); }

  std::string path;
  std::vector<std::uint64_t> offsets;  // of the frames of events

 private:
  trace::FrameFile file_;
  trace::Compressor compressor_{1};
};

// A .live file's bytes: header, then chunks of 256 bytes.
class LiveFile {
 public:
  static constexpr std::uint32_t kChunkBytes = 256, kHeaderBytes = 64;

  explicit LiveFile(std::uint32_t rank, std::uint64_t lost = 0) : rank_(rank), lost_(lost) {}

  LiveFile& chunk(trace::ChunkState state, std::uint32_t thread, std::uint64_t sequence,
                  std::uint64_t first_ticks, const Words& words) {
    std::string bytes(kChunkBytes, '\0');
    const trace::LiveChunkHeader header{state, thread, sequence, first_ticks, 0};
    std::memcpy(bytes.data(), &header, sizeof header);
    if (!words.empty()) std::memcpy(bytes.data() + sizeof header, words.data(), words.size() * 8);
    chunks_ += bytes;
    return *this;
  }

  std::string bytes() const {
    trace::LiveHeader header{};
    std::memcpy(header.magic, trace::kLiveMagic, sizeof header.magic);
    header.version = trace::kVersion;
    header.job = kTraceJob;
    header.rank = rank_;
    header.chunk_bytes = kChunkBytes;
    header.chunk_count = static_cast<std::uint32_t>(chunks_.size() / kChunkBytes);
    header.header_bytes = kHeaderBytes;
    header.lost_records = lost_;
    std::string all(kHeaderBytes, '\0');
    std::memcpy(all.data(), &header, sizeof header);
    return all + chunks_;
  }

 private:
  std::uint32_t rank_;
  std::uint64_t lost_;
  std::string chunks_;
};

}  // namespace fathom::test
