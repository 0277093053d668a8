// SPDX-License-Identifier: BSD-3-Clause
// Measures the time and memory of one analysis of a trace:  analysis_speed RUN NAME
//
// NAME is a registered analysis, "matching" (only joins the trace) or "traffic" (the matrices of
// all messages, from the trace). The measurement starts when the trace is opened. Prints one JSON
// object.
//
//     analysis_speed --list
//
// prints every NAME, one per line.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "analysis/calls/call_rows.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/registry.h"
#include "analysis/scope/profile_of_trace.h"
#include "bench/processor_time.h"

using namespace fathom;
using bench::processor_seconds;

namespace {

fathom::base::Status run(const std::string& name, const analysis::Input& input) {
  if (name == "traffic") {
    analysis::profile_of_trace(*input.trace, input.scope);
    return fathom::base::Done{};
  }
  if (name == "matching") {
    const auto joined = input.job->joined();
    return joined ? fathom::base::Status(fathom::base::Done{})
                  : fathom::base::Status(joined.error());
  }
  const auto row = analysis::find_analysis(name);
  if (!row) return row.error();
  if ((*row)->needs == analysis::Needs::kProfile)
    return fathom::base::Error{name + " needs only a profile; --list names the analyses of traces"};
  const auto outcome = (*row)->run(input);
  return outcome ? fathom::base::Status(fathom::base::Done{})
                 : fathom::base::Status(outcome.error());
}

int list() {
  std::puts("matching\ntraffic");
  for (const analysis::Row& row : analysis::all_analyses()) {
    if (row.needs != analysis::Needs::kProfile) std::puts(row.name);
  }
  return 0;
}

int fail(const fathom::base::Error& error) {
  return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") return list();
  if (argc != 3) return 2;
  const auto began = std::chrono::steady_clock::now();
  const double began_cpu = processor_seconds();
  auto trace = trace::Trace::open(argv[1]);
  if (!trace) return fail(trace.error());
  analysis::LazyJob job(*trace);
  analysis::CallRowsKept calls;
  analysis::Input input;
  input.trace = &*trace;
  input.job = &job;
  input.calls = &calls;
  if (const auto done = run(argv[2], input); !done) return fail(done.error());
  const double cpu = processor_seconds() - began_cpu;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_kib\": %ld}\n", wall.count(), cpu,
              usage.ru_maxrss);
  return 0;
}
