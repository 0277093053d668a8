// How fast a trace is joined, and with how much memory:  join_speed RUN
#include <sys/resource.h>

#include <chrono>
#include <cstdio>

#include "analysis/replay/wait_steps.h"

using namespace fathom;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto trace = trace::Trace::open(argv[1]);
  if (!trace) return std::fprintf(stderr, "%s\n", trace.error().message.c_str()), 1;
  analysis::SingleProcess alone;
  const auto begin = std::chrono::steady_clock::now();
  auto job = analysis::join_job(*trace, alone, {});
  if (!job) return std::fprintf(stderr, "%s\n", job.error().message.c_str()), 1;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto joined_at = std::chrono::steady_clock::now();
  const analysis::JobWaits waits = analysis::find_waits(**job, {});
  const std::chrono::duration<double> waits_took = std::chrono::steady_clock::now() - joined_at;
  const auto& summary = (*job)->summary();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%llu events, %llu messages, %.2f s, %.1f M events/s, %ld MiB, steps %.1f B/event\n",
              static_cast<unsigned long long>(summary.events), static_cast<unsigned long long>(summary.messages),
              took.count(), static_cast<double>(summary.events) / took.count() / 1e6, usage.ru_maxrss / 1024,
              static_cast<double>((*job)->steps().bytes()) / static_cast<double>(summary.events));
  std::printf("waits: %zu rows, %.2f s, with joining %.1f M events/s\n", waits.rows.size(), waits_took.count(),
              static_cast<double>(summary.events) / (took + waits_took).count() / 1e6);
  return 0;
}
