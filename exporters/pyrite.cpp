#include "exporters/pyrite.h"

#include <rapidjson/prettywriter.h>

#include <algorithm>
#include <cmath>

#include "analysis/issue_tables.h"
#include "analysis/profile_of_trace.h"
#include "analysis/replay/lazy_job.h"
#include "profile/atomic_file.h"
#include "profile/utf8.h"

namespace fathom::exporters {
namespace {

using analysis::IssueLink;
using analysis::IssueRank;
using analysis::IssueReport;

class Output {
 public:
  using Ch = char;
  explicit Output(profile::AtomicFile& file) : file_(file) {}
  void Put(char byte) { file_.put(byte); }
  void Flush() {}

 private:
  profile::AtomicFile& file_;
};

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

class Json {
 public:
  explicit Json(profile::AtomicFile& file) : output_(file), json_(output_) { json_.SetIndent(' ', 1); }

  void value(bool truth) { json_.Bool(truth); }
  void value(std::int64_t number) { json_.Int64(number); }
  void value(std::uint64_t number) { json_.Uint64(number); }
  void value(double number) { std::isfinite(number) ? json_.Double(number) : json_.Null(); }
  void value(const std::string& text) {
    const std::string clean = profile::as_utf8(text);
    json_.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
  void value(const analysis::RankPair& pair) { value(std::vector<std::int64_t>{pair.source, pair.destination}); }
  void value(const analysis::TimeWindow& window) { value(std::vector<double>{window.from_s, window.to_s}); }
  void value(const analysis::Value& any) {
    std::visit([&](const auto& held) { value(held); }, any);
  }
  template <typename T>
  void value(const std::vector<T>& list) {
    json_.StartArray();
    for (const T& entry : list) value(entry);
    json_.EndArray();
  }
  template <typename T>
  void field(const char* name, const T& held) {
    json_.Key(name);
    value(held);
  }
  template <typename Fill>
  void object(const char* name, Fill fill) {
    if (name) json_.Key(name);
    json_.StartObject();
    fill();
    json_.EndObject();
  }
  template <typename Rows, typename Fill>
  void array(const char* name, const Rows& rows, Fill fill) {
    json_.Key(name);
    json_.StartArray();
    for (const auto& row : rows) object(nullptr, [&] { fill(row); });
    json_.EndArray();
  }
  void counts(const std::vector<std::pair<std::string, std::uint64_t>>& named) {
    object("calls", [&] {
      for (const auto& [name, count] : named) field(name.c_str(), count);
    });
  }
  void null(const char* name) {
    json_.Key(name);
    json_.Null();
  }

 private:
  Output output_;
  rapidjson::PrettyWriter<Output> json_;
};

class Object {
 public:
  Object(Json& json, const IssueReport& report, const trace::Definitions& definitions)
      : json_(json), report_(report), definitions_(definitions), ranks_(analysis::ranks_of(report, definitions)) {}

  void write() {
    json_.object(nullptr, [this] {
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
    json_.array("per_rank", ranks_, [this](const IssueRank& rank) {
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
    json_.array("top_ranks_by_touch_bytes", analysis::top_ranks(ranks_, touch), [&](const IssueRank& rank) {
      json_.field("rank", rank.rank);
      json_.field("bytes", touch(rank));
    });
  }
  template <typename Bytes, typename Messages>
  void top(const char* name, Bytes bytes, Messages messages) {
    json_.array(name, analysis::top_ranks(ranks_, bytes), [&](const IssueRank& rank) {
      json_.field("rank", rank.rank);
      json_.field("bytes", bytes(rank));
      json_.field("messages", messages(rank));
    });
  }

  void links() {
    json_.array("top_links", analysis::top_links_of(report_, definitions_), [this](const IssueLink& link) {
      json_.field("comm", std::int64_t{link.communicator});
      json_.field("sender", link.source);
      json_.field("receiver", link.destination);
      json_.field("messages", link.messages);
      json_.field("bytes", link.bytes);
      json_.counts(link.calls);
      json_.field("first_time", seconds(link.first_ns));
      json_.field("last_time", seconds(link.last_ns));
    });
    json_.array("collective_roots", analysis::roots_of(report_, definitions_), [this](const analysis::IssueRoot& root) {
      json_.field("root", root.root);
      json_.field("events", root.calls);
      json_.field("bytes", root.bytes);
      json_.counts(root.functions);
    });
  }

  void times() {
    json_.array("barrier_spreads", analysis::barriers_in_order(report_), [this](const analysis::Barrier& barrier) {
      json_.field("barrier_index", std::uint64_t{barrier.sequence});
      json_.field("t_min", seconds(barrier.first_ns));
      json_.field("t_max", seconds(barrier.last_ns));
      json_.field("spread", seconds(barrier.spread_ns()));
      json_.field("comm", std::int64_t{barrier.communicator});
    });
    const analysis::IssueCounts& counts = report_.counts;
    const double begin = seconds(counts.begin_ns);
    const double width = (seconds(counts.end_ns) - begin) / static_cast<double>(std::max<std::size_t>(counts.windows.size(), 1));
    double number = 0;
    json_.array("time_windows", counts.windows, [&](const analysis::WindowCounts& window) {
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

  void patterns() {
    json_.array("patterns", report_.patterns, [this](const analysis::Pattern& pattern) {
      json_.field("type", pattern.kind);
      json_.field("description", pattern.description);
      json_.field("strength", pattern.strength);
      json_.field("ranks", pattern.ranks);
      json_.field("pairs", pattern.pairs);
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
    json_.array("issues", report_.issues, [this](const analysis::Finding& issue) {
      json_.field("type", underscored(issue.kind));
      json_.field("severity", std::string(analysis::name_of(issue.severity)));
      json_.field("score", issue.strength);
      json_.field("description", issue.summary);
      json_.field("ranks", issue.culprits);
      json_.field("victims", issue.victims);
      json_.field("pairs", issue.pairs);
      json_.field("windows", issue.windows);
      json_.field("advice", issue.advice);
      json_.object("metrics", [&] {
        issue.seconds ? json_.field("seconds", *issue.seconds) : json_.null("seconds");
        json_.field("count", issue.count);
        for (const analysis::Figure& figure : issue.evidence) json_.field(figure.name.c_str(), figure.value);
      });
    });
  }

  Json& json_;
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
  Json json(file);
  Object(json, *report, trace.definitions()).write();
  file.put('\n');
  note_loss(trace.definitions(), notes);
  return file.commit();
}

}  // namespace fathom::exporters
