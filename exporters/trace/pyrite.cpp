// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/pyrite.h"

#include <algorithm>

#include "analysis/engine/lazy_job.h"
#include "analysis/pyrite/issue_tables.h"
#include "analysis/scope/profile_of_trace.h"
#include "base/atomic_file.h"
#include "base/json/writer.h"

namespace fathom::exporters {
namespace {

using analysis::IssueRank;
using analysis::IssueReport;
using base::JsonWriter;

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void counts(base::JsonWriter& json,
            const std::vector<std::pair<std::string, std::uint64_t>>& named) {
  json.object("calls", [&] {
    for (const auto& [name, count] : named) json.field(name, count);
  });
}

class Object {
 public:
  Object(base::JsonWriter& json, const IssueReport& report, const trace::Definitions& definitions)
      : json_(json),
        report_(report),
        definitions_(definitions),
        ranks_(analysis::ranks_of(report, definitions)) {
    analysis::lay_out_issues(report, definitions, laid_out_);
  }

  void write() {
    json_.object([this] {
      json_.object("summary", [this] {
        for (const analysis::Figure& figure : laid_out_.figures)
          json_.field(figure.name, figure.value);
      });
      ranks();
      links();
      rows("barrier_spreads");
      rows("time_windows");
      patterns();
      issues();
    });
  }

 private:
  // Writes a table as a list of objects; `more(row)` adds members to one.
  template <typename More>
  void rows(const std::string& name, More more) {
    const auto is_it = [&](const analysis::Table& table) { return table.name == name; };
    const analysis::Table& table =
        *std::find_if(laid_out_.tables.begin(), laid_out_.tables.end(), is_it);
    const std::size_t count =
        std::visit([](const auto& values) { return values.size(); }, table.columns.front().values);
    json_.key(name);
    json_.open_list();
    for (std::size_t row = 0; row < count; ++row) {
      json_.object([&] {
        for (const analysis::NamedColumn& column : table.columns) {
          std::visit([&](const auto& values) { json_.field(column.name, values[row]); },
                     column.values);
        }
        more(row);
      });
    }
    json_.close_list();
  }
  void rows(const std::string& name) {
    rows(name, [](std::size_t) {});
  }

  void ranks() {
    rows("per_rank");
    top(
        "top_ranks_by_out_bytes", [](const IssueRank& rank) { return rank.bytes_out; },
        [](const IssueRank& rank) { return rank.messages_out; });
    top(
        "top_ranks_by_in_bytes", [](const IssueRank& rank) { return rank.bytes_in; },
        [](const IssueRank& rank) { return rank.messages_in; });
    const auto touch = [](const IssueRank& rank) { return rank.touch_bytes(); };
    json_.objects("top_ranks_by_touch_bytes", analysis::top_ranks(ranks_, touch),
                  [&](const IssueRank& rank) {
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
    const auto links = analysis::top_links_of(report_, definitions_);
    rows("top_links", [&](std::size_t row) { counts(json_, links[row].calls); });
    const auto roots = analysis::roots_of(report_, definitions_);
    rows("collective_roots", [&](std::size_t row) { counts(json_, roots[row].functions); });
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
        for (const analysis::Figure& figure : issue.evidence)
          json_.field(figure.name, figure.value);
      });
    });
  }

  base::JsonWriter& json_;
  const IssueReport& report_;
  const trace::Definitions& definitions_;
  const std::vector<IssueRank> ranks_;
  analysis::Section laid_out_;
};

}  // namespace

void write_pyrite_object(const IssueReport& report, const trace::Definitions& definitions,
                         JsonWriter& json) {
  Object(json, report, definitions).write();
}

base::Status export_pyrite(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes) {
  analysis::LazyJob job(trace);
  analysis::Input input;
  const profile::Profile profile = analysis::profile_of_trace(trace, input.scope);
  input.profile = &profile;
  input.trace = &trace;
  input.job = &job;
  const auto report = analysis::issue_report(input);
  if (!report) return report.error();
  base::AtomicFile file;
  const auto existing =
      options.force ? base::AtomicFile::Existing::kReplace : base::AtomicFile::Existing::kKeep;
  if (auto opened = file.open(path, existing); !opened) return opened;
  base::JsonWriter json(file, 1);
  write_pyrite_object(*report, trace.definitions(), json);
  json.line_break();
  json.finish();
  note_loss(trace.definitions(), notes);
  return file.commit();
}

}  // namespace fathom::exporters
