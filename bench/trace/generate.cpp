// SPDX-License-Identifier: BSD-3-Clause
// Writes the trace and the profile of a synthetic job (pattern.h):
//
//   trace_generate DIR [--ranks N] [--events M] [--ring] [--transfers] [--bytes B]
//                  [--suffix TEXT] [--lost N]
//
// M is the approximate total number of events. Prints the actual number.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "bench/trace/pattern.h"
#include "profile/writer.h"
#include "trace/writer.h"

using namespace fathom;

namespace {

struct Count {
  std::uint64_t bytes = 0, messages = 0;
};

profile::Profile profile_of(const trace::Definitions& definitions,
                            const std::map<std::tuple<std::uint32_t, int, int>, Count>& pairs) {
  profile::Profile profile;
  profile.world_size = definitions.world_size;
  profile.application = definitions.application;
  profile.mpi = {"Open MPI", "4.1.4", "ob1"};
  profile.source = definitions.source;
  for (const trace::Process& process : definitions.processes) {
    profile::Rank rank;
    rank.rank = process.rank;
    rank.host = process.host;
    rank.pid = process.pid;
    profile.ranks.push_back(rank);
  }
  profile.communicators = definitions.communicators;
  for (const auto& [key, count] : pairs) {
    const auto& [class_number, source, destination] = key;
    const std::string& class_name = definitions.classes[class_number];
    if (profile.traffic.empty() || profile.traffic.back().class_name != class_name) {
      profile.traffic.emplace_back().class_name = class_name;
      profile.traffic.back().hidden = definitions.class_hidden[class_number];
    }
    profile::Traffic& traffic = profile.traffic.back();
    traffic.source.push_back(source);
    traffic.destination.push_back(destination);
    traffic.bytes.push_back(count.bytes);
    traffic.messages.push_back(count.messages);
  }
  profile.coverage.verdict = "exact";
  profile.coverage.sent.witness = "pml";
  profile.coverage.received.witness = "peruse";
  return profile;
}

int generate(const std::string& directory, const bench::Pattern& pattern, std::uint64_t wanted,
             std::uint64_t lost) {
  std::uint64_t of_iteration = 0;
  {
    bench::RankEvents sample(pattern, 0, [&](const trace::Event&) { ++of_iteration; });
    sample.iteration(0);
  }
  const std::uint64_t iterations =
      std::max<std::uint64_t>(1, wanted / of_iteration / static_cast<std::uint64_t>(pattern.ranks));
  trace::Definitions definitions = definitions_of(pattern);
  definitions.processes[1].lost_records = lost;
  auto writer = trace::TraceWriter::create(directory, definitions);
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
  std::uint64_t events = 0;
  std::map<std::tuple<std::uint32_t, int, int>, Count> pairs;
  for (int rank = 0; rank < pattern.ranks; ++rank) {
    bench::RankEvents rank_events(pattern, rank, [&](const trace::Event& event) {
      ++events;
      if (event.kind == trace::EventKind::kMessageReceived) {
        Count& count = pairs[{event.code, event.peer, rank}];
        count.bytes += event.bytes;
        ++count.messages;
      }
      writer->append(static_cast<std::size_t>(rank), event);
    });
    rank_events.begin();
    for (std::uint64_t i = 0; i < iterations; ++i) rank_events.iteration(i);
    rank_events.end(iterations);
  }
  const auto finished = writer->finish();
  if (!finished) return std::fprintf(stderr, "%s\n", finished.error().message.c_str()), 1;
  const auto written =
      profile::write_profile(profile_of(definitions, pairs), directory + "/profile.json");
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 1;
  std::printf("%llu\n", static_cast<unsigned long long>(events));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("writes the trace and the profile of a made-up job");
  std::string directory;
  bench::Pattern pattern;
  std::uint64_t events = 1'000'000;
  std::uint64_t lost = 0;
  bool ring = false;
  app.add_option("DIR", directory, "run directory to make")->required();
  app.add_option("--ranks", pattern.ranks)->check(CLI::Range(2, 100'000));
  app.add_option("--events", events, "approximate number of events in all");
  app.add_option("--bytes", pattern.bytes, "bytes of each halo message");
  app.add_option("--suffix", pattern.suffix,
                 "added to names of hosts, communicators and the like; also makes a phase");
  app.add_flag("--ring", ring, "two neighbours instead of four");
  app.add_flag("--transfers", pattern.transfers, "also the steps of transfers");
  app.add_option("--lost", lost, "number of records that rank 1 reports as lost");
  CLI11_PARSE(app, argc, argv);
  pattern.torus = !ring;
  return generate(directory, pattern, events, lost);
}
