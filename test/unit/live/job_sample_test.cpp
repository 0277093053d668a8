// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "live/host_sample.h"
#include "live/job_reader.h"

namespace fathom {
namespace {

live::ProcessSample process_of_rank(std::uint32_t rank, std::uint32_t size) {
  live::ProcessSample sample;
  sample.host = "node01";
  sample.pid = 100 + rank;
  sample.clock_ns = 5'000'000'000;
  sample.page.rows.rank = rank;
  sample.page.rows.world_size = size;
  std::memcpy(sample.page.rows.magic, profile::kRowsMagic, sizeof profile::kRowsMagic);
  profile::CommunicatorRow row{};
  row.key = 11;
  row.group_key = 3;
  row.size = size;
  row.my_rank = size - 1 - rank;
  const profile::SectionHeader header{profile::Section::kCommunicators, 0, sizeof row};
  sample.page.sections.append(reinterpret_cast<const char*>(&header), sizeof header);
  sample.page.sections.append(reinterpret_cast<const char*>(&row), sizeof row);
  live::ThreadCopy thread;
  thread.function = "MPI_Recv";
  thread.calls = 3;
  thread.since_ns = 1'000'000'000;
  thread.communicator = 0;
  thread.pending = {{2, 0, 0, 7, 8}};
  sample.page.threads.push_back(thread);
  sample.places = {"halo.c:88"};
  return sample;
}

live::HostSample sample_of_host() {
  return {"node01", 4, 77, {process_of_rank(0, 2), process_of_rank(1, 2)}};
}

TEST_CASE("ranks of a communicator become world ranks through what its members say") {
  const live::JobState job = live::job_state_of(sample_of_host().processes);
  REQUIRE(job.ranks.size() == 2);
  REQUIRE(job.communicators.size() == 1);
  CHECK(job.communicators[0].members == std::vector<std::int32_t>{1, 0});
  const live::ThreadState& thread = job.ranks[0].threads.at(0);
  CHECK(thread.pending.at(0).peer == 1);  // rank 0 there
  CHECK(thread.place == "halo.c:88");
  CHECK(thread.since_s == doctest::Approx(4));
}

TEST_CASE("members that were not seen are unknown") {
  const live::JobState job = live::job_state_of({process_of_rank(0, 2)});
  CHECK(job.communicators.at(0).members == std::vector<std::int32_t>{live::kUnknown, 0});
  CHECK(job.ranks.at(0).threads.at(0).pending.at(0).peer == live::kUnknown);
}

TEST_CASE("a host's sample says the same after it was written and read") {
  const auto read = live::host_sample_of(live::bytes_of(sample_of_host()));
  REQUIRE(read);
  CHECK(read->sequence == 4);
  CHECK(read->host == "node01");
  REQUIRE(read->processes.size() == 2);
  const live::JobState job = live::job_state_of(read->processes);
  CHECK(job.ranks.at(0).threads.at(0).pending.at(0).peer == 1);
  CHECK(job.ranks.at(1).host == "node01");
}

TEST_CASE("damaged samples of hosts are read or refused") {
  std::mt19937 random(2);
  const std::string whole = live::bytes_of(sample_of_host());
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(!live::host_sample_of(std::string_view(whole).substr(0, size)));
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 1 + round % 10; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto read = live::host_sample_of(bytes);
    // Whoever passes it on takes it if a reader does.
    const auto described = live::described_host_sample(bytes);
    REQUIRE(described.has_value() == static_cast<bool>(read));
    if (read) CHECK(described->host == read->host);
    if (read) CHECK(live::job_state_of(read->processes).ranks.size() <= 2);
  }
}

TEST_CASE("a host whose sample is old is said to be late, and lost samples are counted") {
  char folder[] = "/tmp/fathom-live-unit-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string run = folder;
  mkdir((run + "/live").c_str(), 0700);
  const auto write = [&](std::uint64_t sequence) {
    live::HostSample sample = sample_of_host();
    sample.sequence = sequence;
    const std::string bytes = live::bytes_of(sample);
    std::ofstream(run + "/live/node01", std::ios::binary) << bytes;
  };
  write(1);  // taken in 1970
  live::JobReader reader(run);
  auto job = reader.read();
  REQUIRE(job);
  CHECK(job->hosts_late == std::vector<std::string>{"node01"});
  CHECK(job->ranks.at(0).sample_age_s > 2);
  CHECK(job->ranks.at(0).samples_lost == 0);
  write(5);
  job = reader.read();
  REQUIRE(job);
  CHECK(job->ranks.at(0).samples_lost == 3);
  std::filesystem::remove(run + "/live/node01");
  job = reader.read();
  REQUIRE(job);
  CHECK(job->ranks.at(0).state == live::ProcessState::kEnded);
  CHECK(job->hosts_late.empty());
  std::filesystem::remove_all(run);
}

}  // namespace
}  // namespace fathom
