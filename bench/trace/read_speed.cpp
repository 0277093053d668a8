// SPDX-License-Identifier: BSD-3-Clause
// Reads a whole trace, process after process, as exporters and analyses do:
//
//   trace_read_speed DIR [--seeks N]
//
// Prints one JSON object: events, seconds of processor time, peak resident memory in total and of
// the process alone, and with --seeks the mean time of a jump to a random time.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "bench/processor_time.h"
#include "trace/reader.h"

using namespace fathom;
using bench::processor_seconds;

namespace {

long status_kib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) == 0) return std::stol(line.substr(key.size() + 1));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("reads a whole trace");
  std::string directory;
  int seeks = 0;
  app.add_option("DIR", directory)->required();
  app.add_option("--seeks", seeks, "number of random moments to jump to afterwards");
  CLI11_PARSE(app, argc, argv);
  const double start = processor_seconds();
  const auto trace = trace::Trace::open(directory);
  if (!trace) return std::fprintf(stderr, "%s\n", trace.error().message.c_str()), 1;
  const double opened = processor_seconds();
  std::uint64_t events = 0, records = 0, file_bytes = 0, bytes = 0, last_ns = 0;
  for (std::size_t process = 0; process < trace->definitions().processes.size(); ++process) {
    const trace::Process& facts = trace->definitions().processes[process];
    records += facts.records;
    file_bytes += facts.file_bytes;
    last_ns = std::max(last_ns, facts.last_ns);
    trace::EventCursor cursor = trace->events(process);
    for (trace::Event event; cursor.next(event);) {
      ++events;
      bytes += event.bytes;  // so that the compiler cannot drop the work
    }
  }
  const double read = processor_seconds();
  const long peak_kib = status_kib("VmHWM");
  std::mt19937_64 random(1);
  trace::EventCursor cursor = trace->events(0);
  for (int i = 0; i < seeks; ++i) {
    trace::Event event;
    cursor.seek(random() % (last_ns + 1));
    cursor.next(event);
  }
  const double sought = processor_seconds();
  std::printf(
      "{\"events\": %llu, \"records\": %llu, \"file_bytes\": %llu, \"open_seconds\": %.6f, "
      "\"read_seconds\": %.6f, \"peak_kib\": %ld, \"seek_seconds\": %.9f, \"sum\": %llu}\n",
      static_cast<unsigned long long>(events), static_cast<unsigned long long>(records),
      static_cast<unsigned long long>(file_bytes), opened - start, read - opened, peak_kib,
      seeks > 0 ? (sought - read) / seeks : 0.0, static_cast<unsigned long long>(bytes));
  return 0;
}
