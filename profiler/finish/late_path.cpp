// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/finish/late_path.h"

#include <string>
#include <utility>

#include "profile/late_sections.h"
#include "profiler/finish/rows_writer.h"
#include "profiler/process/rows_text.h"

namespace fathom::profiler {
namespace {

// Appends a section; nothing without memory.
void append_section(std::vector<char>& data, profile::Section kind, const void* content,
                    std::size_t size) noexcept try {
  std::vector<char> section;
  const auto append = [&section](const void* bytes, std::size_t count) {
    const char* first = static_cast<const char*>(bytes);
    section.insert(section.end(), first, first + count);
  };
  write_section(kind, content, size, append);
  data.insert(data.end(), section.begin(), section.end());
} catch (...) {
}

std::vector<char> path_section(const std::vector<profile::PathRow>& rows, std::size_t room) noexcept
    try {
  std::vector<char> data(room);
  append_section(data, profile::Section::kPath, rows.data(),
                 rows.size() * sizeof(profile::PathRow));
  return data;
} catch (...) {
  return {};
}

void append_facts(std::vector<char>& data, const std::vector<PathFacts>& all) noexcept try {
  RowsText text;
  if (!text.open()) return;
  for (const PathFacts& facts : all)
    text.add("path", std::to_string(facts.window) + ' ' + std::to_string(facts.elapsed_ns) + ' ' +
                         std::to_string(facts.jumps) + ' ' + std::to_string(facts.error_ns));
  append_section(data, profile::Section::kText, text.data(), text.size());
} catch (...) {
}

void keep(profile::LateSections& late, std::uint32_t rank, const char* begin,
          const char* end) noexcept try {
  late[rank].assign(begin, end);
} catch (...) {
}

// At process 0, which has the time lines of all.
profile::LateSections sections_from_time_lines(const std::vector<char>& rows) {
  PathOfAll path;
  profile::for_each_section(rows, profile::Section::kTimeLine,
                            [&path](std::uint32_t rank, const char* data, std::size_t size) {
                              path.add(rank, data, size);
                            });
  const std::vector<PathFacts> facts = path.find();
  profile::LateSections late;
  path.for_each_part([&late](std::uint32_t rank, const std::vector<profile::PathRow>& part) {
    late[rank] = path_section(part, 0);
  });
  append_facts(late[0], facts);
  return late;
}

// The parts of all processes, at process 0; elsewhere nothing.
profile::LateSections sections_from_processes(Gather& gather, std::uint32_t rank,
                                              const PathSearch& search) noexcept {
  TimeLine own(search.clock, search.found);
  const FoundPath path = find_path(gather, rank, own, search.parts, search.last);
  profile::LateSections late;
  std::vector<char> data;
  if (rank != 0) {
    data = path_section(path.rows, Gather::kRoom);
    if (path.comes_here) gather.give(data);
    return late;
  }
  for (std::uint32_t others = path.processes - (path.comes_here ? 1 : 0); others > 0; --others) {
    const int from = gather.take(data);
    if (data.size() > Gather::kRoom)
      keep(late, static_cast<std::uint32_t>(from), data.data() + Gather::kRoom,
           data.data() + data.size());
  }
  data = path_section(path.rows, 0);
  append_facts(data, path.facts);
  keep(late, rank, data.data(), data.data() + data.size());
  return late;
}

}  // namespace

std::vector<char> time_line_for_path(const PathSearch& search) noexcept {
  if (!search.is_at_0) return {};
  return packed_for_path(TimeLine(search.clock, search.found), search.parts);
}

void add_path(Gather& gather, std::uint32_t rank, const PathSearch& search,
              std::vector<char>& rows) noexcept {
  if (search.is_at_0 && rank != 0) return;
  try {
    const profile::LateSections late = search.is_at_0
                                           ? sections_from_time_lines(rows)
                                           : sections_from_processes(gather, rank, search);
    if (rank == 0) profile::add_late_sections(rows, late);
  } catch (...) {
  }
}

}  // namespace fathom::profiler
