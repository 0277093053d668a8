// SPDX-License-Identifier: BSD-3-Clause
// Samples of made-up processes: ranks in a ring that send and wait, with counts that grow.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "live/host_sample.h"

namespace fathom::test {

template <typename T>
void add_made_section(std::string& sections, profile::Section kind, const std::vector<T>& rows) {
  const profile::SectionHeader header{kind, 0, rows.size() * sizeof(T)};
  sections.append(reinterpret_cast<const char*>(&header), sizeof header);
  sections.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(T));
  sections.append((8 - rows.size() * sizeof(T) % 8) % 8, '\0');
}

// `second`: how long the job has run. Each rank exchanges messages with `peers` others.
inline live::ProcessSample made_process(std::uint32_t rank, std::uint32_t size, std::uint32_t peers,
                                        std::uint64_t second) {
  live::ProcessSample sample;
  sample.pid = 1000 + rank;
  sample.state = live::ProcessState::kRunning;
  sample.processor_s = static_cast<double>(second) * 0.97;
  sample.taken_unix_ns = static_cast<std::int64_t>(1'700'000'000 + second) * 1'000'000'000;
  sample.clock_ns = (1000 + second) * 1'000'000'000;
  sample.page.rows.rank = rank;
  sample.page.rows.world_size = size;
  sample.page.rows.job = 7;
  sample.page.rows.started_unix_ns = 1'700'000'000'000'000'000;
  std::memcpy(sample.page.rows.magic, profile::kRowsMagic, sizeof profile::kRowsMagic);
  const std::string text =
      "executable /home/user/solver\nargument --grid\nargument 512\nhost node\nsource pml\n"
      "class 0 0 point-to-point\nclass 1 0 MPI_Allreduce\nticks-per-ns 2.4\n"
      "timed-function 1 MPI_Waitall\n";
  add_made_section(sample.page.sections, profile::Section::kText,
                   std::vector<char>(text.begin(), text.end()));
  std::vector<profile::CommunicatorRow> communicators(3);
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    communicators[i].key = 100 + i;
    communicators[i].group_key = 200 + i;
    communicators[i].size = size;
    communicators[i].my_rank = rank;
    std::strcpy(communicators[i].made_by, i == 0 ? "predefined" : "MPI_Comm_dup");
    if (i == 0) std::strcpy(communicators[i].name, "MPI_COMM_WORLD");
  }
  add_made_section(sample.page.sections, profile::Section::kCommunicators, communicators);
  std::vector<profile::CellRow> cells;
  for (std::uint32_t i = 0; i < 2 * peers; ++i) {
    profile::CellRow cell{};
    const bool is_sent = i < peers;
    cell.peer_rank = (rank + 1 + i % peers) % size;
    cell.peer_job = 7;
    cell.key = cell.peer_rank | std::uint64_t{is_sent ? 0u : 1u} << profile::kDirectionShift;
    cell.messages = second * (900 + rank % 50 + i);
    cell.bytes = cell.messages * 8192;
    cells.push_back(cell);
  }
  add_made_section(sample.page.sections, profile::Section::kCells, cells);
  std::vector<profile::CallRow> calls(12);
  std::vector<profile::DurationRow> durations(12);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].key.return_address = durations[i].key = 0x401000 + 64 * i;
    calls[i].calls = second * (1000 + rank % 7);
    calls[i].ticks = calls[i].calls * (5000 + rank % 977 + second % 11);
    calls[i].shortest_ticks = 900;
    calls[i].longest_ticks = 90'000;
    for (std::size_t bin = 8; bin < 16; ++bin)
      durations[i].calls[bin] = calls[i].calls >> (bin - 7);
  }
  add_made_section(sample.page.sections, profile::Section::kCalls, calls);
  add_made_section(sample.page.sections, profile::Section::kDurations, durations);
  for (std::uint32_t i = 0; i < peers; ++i) {
    live::ChannelRow channel{};
    channel.key = {0, static_cast<std::int32_t>((rank + 1 + i) % size), 7, 1};
    channel.sent = channel.received = second * (900 + rank % 50 + i);
    channel.sent_bytes = channel.received_bytes = channel.sent * 8192;
    sample.page.channels.push_back(channel);
  }
  live::ThreadCopy thread;
  thread.function = rank % 3 == 0 ? "" : "MPI_Waitall";
  thread.site = 0x401000;
  thread.since_ns = sample.clock_ns - 1'000'000 * (rank % 97);
  thread.calls = second * 12'000 + rank % 1000;
  thread.communicator = 0;
  thread.waits_for_all = true;
  if (!thread.function.empty())
    thread.pending = {{2, 0, static_cast<std::int32_t>((rank + 1) % size), 7, 8192}};
  sample.page.threads.push_back(std::move(thread));
  sample.places = {"halo.f90:88"};
  return sample;
}

inline live::HostSample made_host(std::uint32_t number, std::uint32_t ranks_per_host,
                                  std::uint32_t size, std::uint32_t peers, std::uint64_t second) {
  std::vector<live::ProcessSample> processes;
  for (std::uint32_t i = 0; i < ranks_per_host; ++i)
    processes.push_back(made_process(number * ranks_per_host + i, size, peers, second));
  live::HostSample sample;
  sample.host = "node" + std::to_string(number);
  sample.sequence = second;
  sample.taken_unix_ns = processes.empty() ? 0 : processes.front().taken_unix_ns;
  sample.processes = std::move(processes);
  return sample;
}

}  // namespace fathom::test
