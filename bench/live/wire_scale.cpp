// SPDX-License-Identifier: BSD-3-Clause
// What it takes to watch a large job: hosts that are only made up send samples to a collector in the
// same process, over the loopback interface, as samplers would; a reader reads what it writes.
//
// usage: wire_scale RANKS [RANKS_PER_HOST] [PEERS] [SECONDS] [summaries]
//
// Prints bytes per second and rank on the wire, processor time per second that the collector takes,
// its memory, and how long a reader takes for a refresh: to read the file, to make the state of the job, to
// judge it, to make a page of fathom top. Samples are those of test/unit/live/made_samples.h: counts of every rank change every
// second.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/top/top_page.h"
#include "live/collector.h"
#include "live/host_link.h"
#include "live/verdict/verdict.h"
#include "test/unit/live/made_samples.h"

namespace {

using namespace fathom;
using Clock = std::chrono::steady_clock;

double own_processor_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Processor time of all threads, and wall-clock time.
struct Moment {
  double processor_s = 0;
  Clock::time_point at = Clock::now();
  Moment() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    processor_s = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  }
};

// "read 0.50 s (0.28 s on the wall)"; the next part begins at `since`.
void tell(const char* part, Moment& since) {
  const Moment now;
  std::printf("  %-8s %.3f s (%.3f s on the wall)\n", part, now.processor_s - since.processor_s,
              std::chrono::duration<double>(now.at - since.at).count());
  since = now;
}

double resident_MB() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

void turn(live::Collector& collector, int patience_ms) {
  std::vector<pollfd> polled;
  collector.prepare(polled);
  poll(polled.data(), polled.size(), patience_ms);
  collector.serve(polled, 0);
}

}  // namespace

int main(int count, char** words) {
  const auto word = [&](int number, std::uint32_t otherwise) {
    return count > number ? static_cast<std::uint32_t>(std::atoi(words[number])) : otherwise;
  };
  const std::uint32_t ranks = word(1, 256), per_host = std::min(word(2, 128), ranks),
                      peers = word(3, 26), seconds = word(4, 3), hosts = ranks / per_host;
  const bool summaries = count > 5 && std::string(words[5]) == "summaries";
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  std::string folder = "/tmp/fathom-wire.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  auto collector = live::Collector::open(folder, 0);
  if (!collector) {
    std::fputs("no port, or no address but the loopback interface's\n", stderr);
    return 1;
  }
  const double memory_before = resident_MB();
  std::vector<std::unique_ptr<live::HostLink>> links;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    links.push_back(std::make_unique<live::HostLink>(folder));
    // Until it is open; samples are heard only later.
    while (!links.back()->takes_summaries(std::numeric_limits<std::uint32_t>::max())) {
      std::vector<pollfd> polled = {links.back()->polled()};
      poll(polled.data(), 1, 0);
      links.back()->serve(polled[0].revents);
      turn(*collector, 0);
    }
  }
  double collecting_s = 0, sampling_s = 0;
  std::size_t first_bytes = 0, later_bytes = 0;
  for (std::uint64_t second = 1; second <= seconds; ++second) {
    const std::size_t before = collector->received_bytes();
    for (std::uint32_t i = 0; i < hosts; ++i) {
      live::HostSample made = test::made_host(i, per_host, ranks, peers, second);
      const double began = own_processor_s();
      if (summaries)
        for (live::ProcessSample& process : made.processes) process = live::summary_of(process);
      std::string bytes = live::bytes_of(made);
      links[i]->send(second, std::move(bytes));
      sampling_s += own_processor_s() - began;
    }
    while (collector->samples_taken() < second * hosts) {
      const double began = own_processor_s();
      turn(*collector, 10);
      collecting_s += own_processor_s() - began;
      for (const auto& link : links) {
        std::vector<pollfd> one = {link->polled()};
        if (poll(one.data(), 1, 0) > 0) link->serve(one[0].revents);
      }
    }
    (second == 1 ? first_bytes : later_bytes) += collector->received_bytes() - before;
  }
  const auto wait_until = Clock::now() + std::chrono::milliseconds(600);
  double writing_s = own_processor_s();
  while (Clock::now() < wait_until) turn(*collector, 100);
  writing_s = own_processor_s() - writing_s;
  std::size_t held = 0;
  for (const auto sample : collector->samples()) held += sample.size();
  const double later = static_cast<double>(std::max<std::uint32_t>(seconds, 2) - 1);
  std::printf("%u ranks on %u hosts, each with %u peers, %s\n", ranks, hosts, peers,
              summaries ? "summaries" : "details");
  std::printf("first sample: %.2f MB, %.0f B a rank\n", static_cast<double>(first_bytes) / 1e6,
              static_cast<double>(first_bytes) / ranks);
  std::printf("then: %.2f MB/s, %.0f B a rank and second\n",
              static_cast<double>(later_bytes) / later / 1e6,
              static_cast<double>(later_bytes) / later / ranks);
  std::printf("a host's sample takes %.2f ms of processor time to make and send\n",
              sampling_s / hosts / seconds * 1e3);
  std::printf("collector: %.3f s of processor time a second, and %.3f s to write; holds %.1f MB\n",
              collecting_s / seconds, writing_s, static_cast<double>(held) / 1e6);
  std::printf("file for readers: %.2f MB\n",
              static_cast<double>(std::filesystem::file_size(folder + "/live/+hosts")) / 1e6);
  links.clear();  // the hosts' copies of their samples are no part of the collector
  malloc_trim(0);
  std::printf("memory of the collector: %.1f MB\n", resident_MB() - memory_before);
  std::printf("refresh, processor time:\n");
  Moment since;
  const std::vector<live::HostSample> read = live::read_host_samples(folder);
  std::vector<const live::ProcessSample*> samples;
  for (const live::HostSample& host : read)
    for (const live::ProcessSample& process : host.processes) samples.push_back(&process);
  tell("read", since);
  const live::JobState job = live::job_state_of(samples);
  tell("state", since);
  const live::Verdict verdict = live::judge(job, job);
  tell("verdict", since);
  cli::TopView view;
  view.height = 50;
  const std::size_t lines = cli::top_page(job, job, verdict, view).size();
  tell("page", since);
  std::printf("%zu ranks, %zu pairs, %zu lines; %s\n", job.ranks.size(), job.pairs.size(), lines,
              verdict.text.c_str());
  collector.reset();
  std::filesystem::remove_all(folder);
  return job.ranks.size() == ranks ? 0 : 1;
}
