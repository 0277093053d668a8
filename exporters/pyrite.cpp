#include "exporters/pyrite.h"

#include <algorithm>

#include "analysis/issue_tables.h"
#include "analysis/profile_of_trace.h"
#include "analysis/replay/lazy_job.h"
#include "profile/atomic_file.h"
#include "profile/json_writer.h"

namespace fathom::exporters {
namespace {

using analysis::IssueLink;
using analysis::IssueRank;
using analysis::IssueReport;
using profile::JsonWriter;

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

void counts(JsonWriter& json, const std::vector<std::pair<std::string, std::uint64_t>>& named) {
  json.object("calls", [&] {
    for (const auto& [name, count] : named) json.field(name, count);
  });
}

class Object {
 public:
  Object(JsonWriter& json, const IssueReport& report, const trace::Definitions& definitions)
      : json_(json), report_(report), definitions_(definitions), ranks_(analysis::ranks_of(report, definitions)) {}

  void write() {
    json_.object([this] {
      summary();
      ranks();
      links();
      times();
      patterns();
      issues();
    });
  }

 private:
  void summary() {
    const analysis::IssueSummary all = analysis::summary_of(report_);
    json_.object("summary", [&] {
      json_.field("total_events", all.total_events);
      json_.field("canonical_transfer_events", all.canonical_transfer_events);
      json_.field("canonical_transfer_bytes", all.canonical_transfer_bytes);
      json_.field("completion_events", all.completion_events);
      json_.field("barrier_events", all.barrier_events);
      json_.field("collective_events", all.collective_events);
      json_.field("estimated_runtime", all.estimated_runtime);
      json_.field("pair_density", all.pair_density);
      json_.field("avg_out_peers", all.avg_out_peers);
      json_.field("avg_in_peers", all.avg_in_peers);
    });
  }

  void ranks() {
    json_.objects("per_rank", ranks_, [this](const IssueRank& rank) {
      json_.field("rank", rank.rank);
      json_.field("events", rank.calls.calls);
      json_.field("completion_events", rank.calls.completions);
      json_.field("barrier_events", rank.calls.barriers);
      json_.field("collective_events", rank.calls.collectives);
      json_.field("global_collective_events", rank.calls.global_collectives);
      json_.field("rooted_collective_events", rank.calls.rooted_collectives);
      json_.field("canonical_bytes_out", rank.bytes_out);
      json_.field("canonical_bytes_in", rank.bytes_in);
      json_.field("canonical_messages_out", rank.messages_out);
      json_.field("canonical_messages_in", rank.messages_in);
      json_.field("distinct_out_peers", rank.peers_out);
      json_.field("distinct_in_peers", rank.peers_in);
      json_.field("completion_request_count", rank.calls.completed_requests);
      json_.field("touch_bytes", rank.touch_bytes());
    });
    top("top_ranks_by_out_bytes", [](const IssueRank& rank) { return rank.bytes_out; }, [](const IssueRank& rank) { return rank.messages_out; });
    top("top_ranks_by_in_bytes", [](const IssueRank& rank) { return rank.bytes_in; }, [](const IssueRank& rank) { return rank.messages_in; });
    const auto touch = [](const IssueRank& rank) { return rank.touch_bytes(); };
    json_.objects("top_ranks_by_touch_bytes", analysis::top_ranks(ranks_, touch), [&](const IssueRank& rank) {
      json_.field("rank", rank.rank);
      json_.field("bytes", touch(rank));
    });
  }
  template <typename Bytes, typename Messages>
  void top(const char* name, Bytes bytes, Messages messages) {
    json_.objects(name, analysis::top_ranks(ranks_, bytes), [&](const IssueRank& rank) {
      json_.field("rank", rank.rank);
      json_.field("bytes", bytes(rank));
      json_.field("messages", messages(rank));
    });
  }

  void links() {
    json_.objects("top_links", analysis::top_links_of(report_, definitions_), [this](const IssueLink& link) {
      json_.field("comm", link.communicator);
      json_.field("sender", link.source);
      json_.field("receiver", link.destination);
      json_.field("messages", link.messages);
      json_.field("bytes", link.bytes);
      counts(json_, link.calls);
      json_.field("first_time", seconds(link.first_ns));
      json_.field("last_time", seconds(link.last_ns));
    });
    json_.objects("collective_roots", analysis::roots_of(report_, definitions_), [this](const analysis::IssueRoot& root) {
      json_.field("root", root.root);
      json_.field("events", root.calls);
      json_.field("bytes", root.bytes);
      counts(json_, root.functions);
    });
  }

  void times() {
    json_.objects("barrier_spreads", analysis::barriers_in_order(report_), [this](const analysis::Barrier& barrier) {
      json_.field("barrier_index", barrier.sequence);
      json_.field("t_min", seconds(barrier.first_ns));
      json_.field("t_max", seconds(barrier.last_ns));
      json_.field("spread", seconds(barrier.spread_ns()));
      json_.field("comm", barrier.communicator);
    });
    const analysis::IssueCounts& counts = report_.counts;
    const double begin = seconds(counts.begin_ns);
    const double width = (seconds(counts.end_ns) - begin) / static_cast<double>(std::max<std::size_t>(counts.windows.size(), 1));
    double number = 0;
    json_.objects("time_windows", counts.windows, [&](const analysis::WindowCounts& window) {
      json_.field("t_start", begin + width * number);
      json_.field("t_end", begin + width * (number + 1));
      json_.field("events", window.calls);
      json_.field("canonical_transfer_events", window.messages);
      json_.field("canonical_transfer_bytes", window.bytes);
      json_.field("completion_events", window.completions);
      json_.field("barrier_events", window.barriers);
      json_.field("collective_events", window.collectives);
      ++number;
    });
  }

  void pairs(const std::vector<analysis::RankPair>& all) {
    json_.list("pairs", all, [this](const analysis::RankPair& pair) {
      json_.value(std::vector<std::int64_t>{pair.source, pair.destination});
    });
  }

  void patterns() {
    json_.objects("patterns", report_.patterns, [this](const analysis::Pattern& pattern) {
      json_.field("type", pattern.kind);
      json_.field("description", pattern.description);
      json_.field("strength", pattern.strength);
      json_.field("ranks", pattern.ranks);
      pairs(pattern.pairs);
      json_.object("metrics", [&] {
        json_.field("class", pattern.class_name);
        json_.field("share", pattern.share);
        json_.field("share_of_all", pattern.of_all);
        json_.field("extents", pattern.extents);
        if (pattern.hub != profile::kNone) json_.field("root", pattern.hub);
      });
    });
  }

  void issues() {
    json_.objects("issues", report_.issues, [this](const analysis::Finding& issue) {
      json_.field("type", underscored(issue.kind));
      json_.field("severity", analysis::name_of(issue.severity));
      json_.field("score", issue.strength);
      json_.field("description", issue.summary);
      json_.field("ranks", issue.culprits);
      json_.field("victims", issue.victims);
      pairs(issue.pairs);
      json_.list("windows", issue.windows, [this](const analysis::TimeWindow& window) {
        json_.value(std::vector<double>{window.from_s, window.to_s});
      });
      json_.field("advice", issue.advice);
      json_.object("metrics", [&] {
        json_.field("seconds", issue.seconds);
        json_.field("count", issue.count);
        for (const analysis::Figure& figure : issue.evidence) json_.field(figure.name, figure.value);
      });
    });
  }

  JsonWriter& json_;
  const IssueReport& report_;
  const trace::Definitions& definitions_;
  const std::vector<IssueRank> ranks_;
};

}  // namespace

base::Status export_pyrite(const trace::Trace& trace, const TraceOptions& options, const std::string& path, Notes& notes) {
  analysis::LazyJob job(trace);
  analysis::Input input;
  const profile::Profile profile = analysis::profile_of_trace(trace, input.scope);
  input.profile = &profile;
  input.trace = &trace;
  input.job = &job;
  const auto report = analysis::issue_report(input);
  if (!report) return report.error();
  profile::AtomicFile file;
  const auto existing = options.force ? profile::AtomicFile::Existing::kReplace : profile::AtomicFile::Existing::kKeep;
  if (auto opened = file.open(path, existing); !opened) return opened;
  JsonWriter json(file, 1);
  Object(json, *report, trace.definitions()).write();
  json.line_break();
  json.finish();
  note_loss(trace.definitions(), notes);
  return file.commit();
}

}  // namespace fathom::exporters
