// SPDX-License-Identifier: BSD-3-Clause
// Hands the rows of this process (profile/rows.h) to a sink, piece by piece.
//
// Reads memory in place and allocates nothing, so that both the gathering at MPI_Finalize and a
// signal handler can use it.
#pragma once

#include "profiler/calls/call_times.h"
#include "profiler/counting/profiled_process.h"

namespace fathom::profiler {

// One section, padded; nothing if it is empty.
template <typename Sink>
void write_section(profile::Section kind, const void* data, std::size_t size, Sink& sink) {
  static constexpr char kPadding[8] = {};
  if (size == 0) return;
  const profile::SectionHeader section_header{kind, 0, size};
  sink(&section_header, sizeof section_header);
  sink(data, size);
  if (size % 8 != 0) sink(kPadding, 8 - size % 8);
}

// sink(const void* data, std::size_t size). `with_run_facts`: include the facts common to all
// processes of the run (class names, executable, versions).
template <typename Sink>
void write_rows(ProfiledProcess& process, profile::EndReason reason, std::uint32_t detail,
                bool with_run_facts, Sink&& sink) {
  using namespace profile;
  RowsHeader header = process.header();
  header.end_reason = reason;
  header.end_detail = detail;
  sink(&header, sizeof header);

  const auto section = [&sink](Section kind, const void* data, std::size_t size) {
    write_section(kind, data, size, sink);
  };
  const auto array = [&section](Section kind, const auto& rows) {
    section(kind, rows.data(), rows.size() * sizeof(rows[0]));
  };
  if (with_run_facts) section(Section::kText, process.run_text().data(), process.run_text().size());
  section(Section::kText, process.text().data(), process.text().size());
  array(Section::kCommunicators, process.registry().rows());
  array(Section::kForeignMembers, process.registry().foreign_members());
  process.counter().for_each_lane([&](const auto& cells, const auto& sizes) {
    array(Section::kCells, cells);
    array(Section::kSizes, sizes);
  });
  CallTimes::for_each_thread([&](const auto& calls, const auto& durations) {
    array(Section::kCalls, calls);
    array(Section::kDurations, durations);
  });
}

}  // namespace fathom::profiler
