// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/report_json.h"

#include <algorithm>

#include "base/json/writer.h"
#include "base/program_name.h"
#include "cli/pages/advice.h"

namespace fathom::cli {
namespace {

void write_volume(base::JsonWriter& json, const profile::Volume& volume) {
  json.field("bytes", volume.bytes);
  json.field("messages", volume.messages);
}

void write_run(base::JsonWriter& json, const RunSummary& summary) {
  const profile::Header& header = summary.header;
  json.field("application",
             base::program_path(header.application.executable, header.application.arguments));
  json.field("seconds", header.application.seconds);
  json.field("ranks", summary.ranks);
  json.field("hosts", summary.hosts);
  json.object("mpi", [&] {
    json.field("library", header.mpi.library);
    json.field("version", header.mpi.version);
    json.field("pml", header.mpi.pml);
  });
  json.field("source", header.source);
  json.field("chosen", summary.chosen);
}

void write_traffic(base::JsonWriter& json, const RunSummary& summary) {
  json.object("total", [&] { write_volume(json, summary.total); });
  json.object("hidden", [&] { write_volume(json, summary.hidden); });
  json.objects("classes", summary.classes, [&](const profile::ClassTotal& entry) {
    json.field("class", entry.class_name);
    json.field("hidden", entry.hidden);
    write_volume(json, entry.volume);
  });
  json.objects("phases", summary.phases, [&](const PhaseTotal& entry) {
    json.field("phase", entry.phase);
    write_volume(json, entry.volume);
    json.object("hidden", [&] { write_volume(json, entry.hidden); });
  });
  json.objects("message_sizes", summary.sizes, [&](const SizeBin& bin) {
    json.field("low", bin.low);
    json.field("high", bin.high);
    json.field("messages", bin.messages);
  });
  json.objects("other_jobs", summary.other_jobs, [&](const OtherJob& job) {
    json.field("job", job.name);
    json.field("run", job.folder);
    json.field("state", job.state);
    json.field("application", job.program);
    json.field("ranks", job.ranks);
    json.field("seconds", job.seconds);
    write_volume(json, job.total);
  });
  json.field("pairs", summary.pairs);
  json.field("density", summary.density);
  json.object("between_hosts", [&] { write_volume(json, summary.between_hosts); });
  json.objects("top_pairs", summary.top_pairs, [&](const profile::PairCount& pair) {
    json.field("source", pair.source);
    json.field("destination", pair.destination);
    write_volume(json, {pair.bytes, pair.messages});
  });
  const auto rank = [&](const BusiestRank& entry) {
    json.field("rank", entry.rank);
    write_volume(json, entry.volume);
  };
  json.objects("top_senders", summary.top_senders, rank);
  json.objects("top_receivers", summary.top_receivers, rank);
  json.field("imbalance_sent", summary.imbalance_sent);
  json.field("imbalance_received", summary.imbalance_received);
}

void write_sum(base::JsonWriter& json, const profile::CallSum& sum) {
  json.field("calls", sum.calls);
  json.field("seconds", sum.seconds);
  json.field("longest_seconds", sum.longest_seconds);
  json.field("bytes", sum.bytes);
}

// Writes the place in full wherever it occurs, so that a program need not look numbers up.
void write_site(base::JsonWriter& json, const RunSummary& summary, std::int64_t id) {
  const auto& sites = summary.header.call_sites;
  const auto site =
      std::find_if(sites.begin(), sites.end(), [id](const auto& known) { return known.id == id; });
  if (site == sites.end()) return;
  json.field("module", site->module);
  json.field("offset", site->offset);
  json.field("in", site->function);
  json.field("file", site->file);
  json.field("line", site->line);
}

void write_waits(base::JsonWriter& json, const RunSummary& summary) {
  const auto& known = summary.header.coverage.waits;
  if (!known && summary.waiting_pairs == 0) return;
  const profile::WaitCoverage coverage = known.value_or(profile::WaitCoverage{});
  const double all = summary.all_ranks_seconds();
  json.object("waits", [&] {
    json.field("seconds", summary.wait_seconds);
    json.field("share", all > 0 ? summary.wait_seconds / all : 0);
    json.field("pairs", summary.waiting_pairs);
    json.field("threshold_ns", coverage.threshold_ns);
    json.field("left_out", coverage.left_out);
    json.field("left_out_ns", coverage.left_out_ns);
    json.field("unresolved", coverage.unresolved);
    json.field("unresolved_ns", coverage.unresolved_ns);
  });
  json.objects("edge_waits", summary.edge_waits, [&](const profile::EdgeWaits& edge) {
    json.field("kind", edge.kind);
    json.field("waits", edge.waits);
    json.field("seconds", edge.seconds);
    json.object("longest_pair", [&] {
      json.field("rank", edge.rank);
      json.field("awaited", edge.awaited);
      json.field("seconds", edge.seconds_of_pair);
    });
  });
  json.objects("top_waits", summary.top_waits, [&](const profile::WaitPair& pair) {
    json.field("rank", pair.rank);
    json.field("awaited", pair.awaited);
    json.field("waits", pair.waits);
    json.field("seconds", pair.seconds);
    json.field("longest_seconds", pair.longest_seconds);
    json.object("mostly", [&] {
      json.field("kind", pair.kind);
      json.field("function", pair.function);
      json.field("seconds", pair.seconds_there);
      write_site(json, summary, pair.site);
    });
  });
  json.objects("top_waiting_calls", summary.top_waiting_calls,
               [&](const profile::WaitingCall& call) {
                 json.field("rank", call.rank);
                 json.field("awaited", call.awaited);
                 json.field("kind", call.kind);
                 json.field("function", call.function);
                 write_site(json, summary, call.site);
                 json.field("waits", call.waits);
                 json.field("seconds", call.seconds);
                 json.field("longest_seconds", call.longest_seconds);
               });
}

void write_paths(base::JsonWriter& json, const RunSummary& summary) {
  if (summary.paths.empty()) return;
  const auto rank_seconds = [&](const auto& entry) {
    json.field("rank", entry.first);
    json.field("seconds", entry.second);
  };
  json.objects("critical_path", summary.paths, [&](const profile::PathSummary& path) {
    json.field("window", path.window);
    json.field("seconds", path.seconds);
    json.field("jumps", path.jumps);
    json.field("error_seconds", path.error_seconds);
    json.objects("ranks", path.ranks, rank_seconds);
    json.objects("parts", path.shares, [&](const profile::PathShare& share) {
      json.field("function", share.function);
      json.field("program", share.program);
      json.field("seconds", share.seconds);
      write_site(json, summary, share.site);
      json.objects("ranks", share.ranks, rank_seconds);
    });
  });
}

// Of all processes, also of those whose calls were not timed. What none of them says is left out.
void write_needs(base::JsonWriter& json, const RunSummary& summary) {
  const ProcessNeeds& needs = summary.needs;
  if (needs.most_bytes > 0) {
    json.object("memory", [&] {
      json.field("most_bytes", needs.most_bytes);
      json.field("rank", needs.largest);
      json.field("mean_bytes", needs.mean_bytes);
    });
  }
  if (needs.processor_wait_seconds > 0) {
    json.object("processor_wait", [&] {
      json.field("seconds", needs.processor_wait_seconds);
      json.object("worst_rank", [&] {
        json.field("rank", needs.slowed);
        json.field("seconds", needs.slowed_seconds);
        json.field("share", needs.slowed_share);
      });
    });
  }
}

void write_time(base::JsonWriter& json, const RunSummary& summary) {
  write_needs(json, summary);
  if (summary.rank_times.empty()) return;
  json.objects("rank_times", summary.rank_times, [&](const profile::RankTime& rank) {
    json.field("rank", rank.rank);
    json.field("seconds", rank.seconds);
    json.field("mpi_seconds", rank.mpi_seconds);
    json.field("peak_memory_bytes", rank.peak_memory_bytes);
    json.field("processor_wait_seconds", rank.processor_wait_seconds);
  });
  json.object("mpi_io", [&] {
    json.field("calls", summary.files.calls);
    json.field("seconds", summary.files.seconds);
    json.field("read_bytes", summary.files.read_bytes);
    json.field("written_bytes", summary.files.written_bytes);
  });
  json.objects("call_sites", summary.sites, [&](const profile::SiteTotal& total) {
    json.field("function", total.function);
    write_site(json, summary, total.site);
    write_sum(json, total.sum);
    json.field("imbalance", total.imbalance);
    json.field("slowest_rank", total.slowest_rank);
  });
  json.objects("functions", summary.functions, [&](const auto& entry) {
    json.field("function", entry.first);
    write_sum(json, entry.second);
  });
  write_waits(json, summary);
  write_paths(json, summary);
}

void write_trust(base::JsonWriter& json, const RunSummary& summary) {
  const profile::Coverage& coverage = summary.header.coverage;
  const auto side = [&](const char* name, const profile::Totals& totals) {
    json.object(name, [&] {
      write_volume(json, {totals.bytes, totals.messages});
      json.field("witness", totals.witness);
    });
  };
  json.object("exactness", [&] {
    json.field("verdict", coverage.verdict);
    json.field("sentence", exactness(summary).sentence);
    side("sent", coverage.sent);
    side("received", coverage.received);
    side("unreceived", coverage.unreceived);
    json.field("pairs_that_differ", coverage.differences.size());
    json.field("lost_messages", coverage.lost_messages);
    json.field("cut_short", coverage.cut_short);
  });
  const auto remark = [&](const Remark& entry) {
    json.field("kind", entry.kind);
    json.field("text", entry.text);
  };
  json.objects("limits", limits(summary), remark);
  json.objects("warnings", warnings(summary), remark);
}

}  // namespace

std::string report_json(const RunSummary& summary) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-report/1");
                           write_run(json, summary);
                           write_time(json, summary);
                           write_traffic(json, summary);
                           write_trust(json, summary);
                         }) +
         "\n";
}

}  // namespace fathom::cli
