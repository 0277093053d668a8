// Hands the rows of this process (profile/rows.h) to a sink, piece by piece.
//
// Works on memory as it stands and allocates nothing, so that it serves the gathering at MPI_Finalize
// and a signal handler alike.
#pragma once

#include <ctime>

#include "profiler/session.h"

namespace fathom::profiler {

inline std::uint64_t now_unix_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// sink(const void* data, std::size_t size). `with_run_facts`: also what is the same for all processes
// of the run (class names, executable, versions).
template <typename Sink>
void write_rows(Session& session, profile::EndReason reason, std::uint32_t detail,
                bool with_run_facts, Sink&& sink) {
  using namespace profile;
  RowsHeader header = session.header();
  header.elapsed_ns = now_unix_ns() - header.started_unix_ns;
  header.end_reason = reason;
  header.end_detail = detail;
  header.lost_messages = session.lost();
  sink(&header, sizeof header);

  const auto section = [&sink](Section kind, const void* data, std::size_t size) {
    static constexpr char kPadding[8] = {};
    if (size == 0) return;
    const SectionHeader section_header{kind, 0, size};
    sink(&section_header, sizeof section_header);
    sink(data, size);
    if (size % 8 != 0) sink(kPadding, 8 - size % 8);
  };
  const auto array = [&section](Section kind, const auto& rows) {
    section(kind, rows.data(), rows.size() * sizeof(rows[0]));
  };
  if (with_run_facts) section(Section::kText, session.run_text().data(), session.run_text().size());
  section(Section::kText, session.text().data(), session.text().size());
  array(Section::kCommunicators, session.registry().rows());
  array(Section::kForeignMembers, session.registry().foreign_members());
  session.counter().for_each_lane([&](const auto& cells, const auto& sizes) {
    array(Section::kCells, cells);
    array(Section::kSizes, sizes);
  });
}

}  // namespace fathom::profiler
