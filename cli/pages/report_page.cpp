// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/report_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/program_name.h"
#include "cli/pages/advice.h"
#include "cli/pages/page_lines.h"
#include "cli/pages/report_traffic.h"
#include "cli/terminal/text_table.h"
#include "cli/terminal/units.h"
#include "mpi/wait_kind.h"
#include "trace/code/named_call_sites.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNameColumns = 30;
constexpr std::size_t kSiteRows = 10, kFewSiteRows = 6;
constexpr std::size_t kPathRows = 5, kFewPathRows = 4;
constexpr double kLeastShown_s = 0.00005;  // less is printed as 0.0 ms
constexpr std::size_t kJobRows = 8;
constexpr std::size_t kRemarks = 4;  // of each kind; the rest is counted

class ReportPage : private PageLines {
 public:
  ReportPage(const RunSummary& summary, const Terminal& terminal, bool all)
      : PageLines(terminal),
        summary_(summary),
        short_(!all && !summary.rank_times.empty()),
        limits_(limits(summary)),
        header_(summary.header) {}

  std::string text() {
    title();
    if (!summary_.rank_times.empty()) {
      time();
      call_sites();
      waits();
      critical_path();
      add("");
    } else if (summary_.chosen.empty()) {
      needs();
      for (const Remark& remark : limits_) {
        if (remark.kind == kNotTimed) wrapped(remark.text, Style::kWarning, "");
      }
      add("");
    }
    totals();
    if (summary_.total.messages > 0 && short_) {
      add_traffic_lines(summary_, *this);
    } else if (summary_.total.messages > 0) {
      add("");
      add_traffic_tables(summary_, *this);
    }
    add("");
    trust();
    remarks(other_limits(), Style::kFaint, "  ");
    remarks(warnings(summary_), Style::kWarning, "! ");
    if (short_) what_all_adds();
    other_jobs();
    return PageLines::text();
  }

 private:
  void title() {
    std::string name = printable(
        base::program_name(header_.application.executable, header_.application.arguments));
    if (name.empty()) name = "(unnamed program)";
    std::string facts =
        fmt::format("  {}", plural(static_cast<std::uint64_t>(summary_.ranks), "rank"));
    if (summary_.hosts > 0) facts += fmt::format(", {}", plural(summary_.hosts, "host"));
    if (header_.application.seconds > 0)
      facts += " · wall time " + human_seconds(header_.application.seconds);
    const std::string mpi =
        header_.mpi.library + (header_.mpi.version.empty() ? "" : " ") + header_.mpi.version;
    if (!mpi.empty()) facts += " · " + printable(mpi);
    if (!header_.mpi.pml.empty()) facts += " (" + printable(header_.mpi.pml) + ")";
    if (!header_.source.empty()) facts += " · source " + printable(header_.source);
    name = left(name, std::min(columns(name), kNameColumns));
    titled(name, facts);
    command();
  }

  // Without arguments the title says it all.
  void command() {
    const profile::Application& application = header_.application;
    if (application.arguments.empty()) return;
    std::string words = application.executable;
    for (const std::string& argument : application.arguments) words += " " + argument;
    words = "command: " + printable(words);
    add(left(words, std::min(columns(words), width())));
  }

  // Who spends how much of its time in MPI, and what the processes needed.
  void time() {
    const auto& ranks = summary_.rank_times;
    const auto by_share = [](const auto& a, const auto& b) { return a.share() < b.share(); };
    const auto least = std::min_element(ranks.begin(), ranks.end(), by_share);
    const auto most = std::max_element(ranks.begin(), ranks.end(), by_share);
    double all = 0, in_mpi = 0, computing = 0;
    for (const profile::RankTime& rank : ranks) {
      all += rank.seconds;
      in_mpi += rank.mpi_seconds;
      computing += std::max(rank.seconds - rank.mpi_seconds, 0.0);
    }
    std::string line =
        fmt::format("time: {} computing, {} in MPI", percent(computing, all), percent(in_mpi, all));
    if (ranks.size() > 1) {
      line += fmt::format(", from {} on rank {} to {} on rank {}",
                          percent(least->mpi_seconds, least->seconds), least->rank,
                          percent(most->mpi_seconds, most->seconds), most->rank);
    }
    wrapped(line, Style::kPlain, "");
    needs();
    file_access(in_mpi);
  }

  // Also of a run whose calls were not timed.
  void needs() {
    const ProcessNeeds& needs = summary_.needs;
    std::string line;
    if (needs.most_bytes > 0)
      line = fmt::format("memory at most {} on rank {}, on average {}",
                         human_bytes(as_double(needs.most_bytes)), needs.largest,
                         human_bytes(needs.mean_bytes));
    constexpr double kNoticed = 0.02;
    if (needs.slowed_share >= kNoticed)
      line +=
          fmt::format("{}threads of rank {} waited {} for a processor", line.empty() ? "" : "; ",
                      needs.slowed, human_seconds(needs.slowed_seconds));
    if (!line.empty()) wrapped(line, Style::kPlain, "");
  }

  void file_access(double in_mpi) {
    const FileCalls& files = summary_.files;
    if (files.calls == 0) return;
    wrapped(fmt::format("MPI-IO: {}, {} of all ranks ({} of MPI), {} read, {} written",
                        plural(files.calls, "call"), human_seconds(files.seconds),
                        percent(files.seconds, in_mpi), human_bytes(as_double(files.read_bytes)),
                        human_bytes(as_double(files.written_bytes))),
            Style::kPlain, "");
  }

  void call_sites() {
    TextTable table;
    table.column("call site", TextTable::Align::kLeft);
    for (const char* title : {"calls", "time", "share", "worst rank", "bytes"}) table.column(title);
    const std::size_t shown = sites_shown();
    const std::size_t room = short_ ? room_for_names(shown) : ~std::size_t{0};
    for (std::size_t i = 0; i < shown; ++i) {
      const profile::SiteTotal& total = summary_.sites[i];
      std::vector<std::string> row = {called(total.function, total.site, room)};
      for (std::string& figure : figures(total)) row.push_back(std::move(figure));
      table.row(row);
    }
    if (shown < summary_.sites.size()) {
      profile::CallSum rest;
      for (std::size_t i = shown; i < summary_.sites.size(); ++i) {
        rest.calls += summary_.sites[i].sum.calls;
        rest.seconds += summary_.sites[i].sum.seconds;
        rest.bytes += summary_.sites[i].sum.bytes;
      }
      std::vector<std::string> row = {
          fmt::format("{} more", plural(summary_.sites.size() - shown, "call site"))};
      for (std::string& figure : figures(rest, "")) row.push_back(std::move(figure));
      table.row(row);
    }
    add("");
    add_text(table.text(terminal(), "see fathom report --json"));
    wrapped(std::string("share: of all ranks' time") +
                (summary_.rank_times.size() < 2
                     ? ""
                     : "; worst rank (1.50×): its time is 1.5 times the mean"),
            Style::kFaint, "  ");
  }

  // "MPI_Wait in exchange (halo.c:88)"; where that is longer than `most` columns and the line is
  // known, "MPI_Wait at halo.c:88".
  std::string called(const std::string& function, std::int64_t id,
                     std::size_t most = ~std::size_t{0}) const {
    const auto found = std::find_if(header_.call_sites.begin(), header_.call_sites.end(),
                                    [&](const auto& known) { return known.id == id; });
    if (found == header_.call_sites.end()) return function;
    profile::CallSite site = *found;
    const std::string place = trace::describe(site);
    if (place.empty()) return function;
    const std::string text = printable(function + " in " + place);
    if (columns(text) <= most || site.file.empty()) return text;
    site.function.clear();
    return printable(function + " at " + trace::describe(site));
  }

  // The cells of a row of calls after its name.
  std::vector<std::string> figures(const profile::CallSum& sum, const std::string& worst) const {
    return {grouped(sum.calls), human_seconds(sum.seconds),
            percent(sum.seconds, summary_.all_ranks_seconds()), worst,
            human_bytes(as_double(sum.bytes))};
  }
  std::vector<std::string> figures(const profile::SiteTotal& total) const {
    return figures(total.sum, summary_.rank_times.size() < 2
                                  ? ""
                                  : fmt::format("{} ({:.2f}{})", total.slowest_rank,
                                                total.imbalance, nice("×")));
  }

  // The columns of the first `shown` rows that are left for names.
  std::size_t room_for_names(std::size_t shown) const {
    constexpr std::size_t kFigures = 5, kBetween = 2;
    std::size_t widths[kFigures] = {5, 4, 5, 10, 5};  // of the headings
    for (std::size_t i = 0; i < shown; ++i) {
      const std::vector<std::string> row = figures(summary_.sites[i]);
      for (std::size_t column = 0; column < kFigures; ++column)
        widths[column] = std::max(widths[column], columns(row[column]));
    }
    std::size_t taken = 0;
    for (const std::size_t width : widths) taken += width + kBetween;
    return width() - std::min(width(), taken);
  }

  // The short page leaves out calls that took no time worth a row; one row sums up the rest.
  std::size_t sites_shown() const {
    const std::size_t most = std::min(summary_.sites.size(), short_ ? kFewSiteRows : kSiteRows);
    std::size_t shown = 0;
    while (shown < most && (!short_ || summary_.sites[shown].sum.seconds >= kLeastShown_s)) ++shown;
    return std::max(shown, std::min<std::size_t>(most, 1));
  }

  // Rows of a label, seconds, their share of something, and a call in the columns that are left.
  struct TimeRow {
    std::string label;
    double seconds, of;
    std::string before;  // the call
    std::string function;
    std::int64_t site;
  };
  void time_rows(const std::vector<TimeRow>& rows) {
    constexpr std::size_t kMostLabel = 24, kTime = 10, kShare = 6;
    std::size_t label = 0;
    for (const TimeRow& row : rows) label = std::max(label, columns(nice(row.label)));
    label = std::min(label, kMostLabel);
    for (const TimeRow& row : rows) {
      const std::string start = fmt::format(
          "  {} {} {}  {}", left(nice(row.label), label), right(human_seconds(row.seconds), kTime),
          right(percent(row.seconds, row.of), kShare), row.before);
      const std::size_t room = width() - std::min(width(), columns(start));
      const std::string call = nice(called(row.function, row.site, room));
      add(start + left(call, std::min(columns(call), room)));
    }
  }

  void heading(const std::string& title, const std::string& facts) {
    add("");
    titled(title, facts);
  }

  static std::string kind_words(const std::string& name) {
    const auto kind = mpi::wait_kind_named(name);
    return kind ? mpi::kWaitKindWords[static_cast<std::size_t>(*kind)] : printable(name);
  }

  void waits() {
    const std::string edges = edge_waits();
    const std::vector<Remark> missing = about_waits();
    if (summary_.top_waiting_calls.empty() && edges.empty() && missing.empty()) return;
    if (!header_.coverage.waits && summary_.top_waiting_calls.empty()) {
      add("");
      for (const Remark& remark : missing) wrapped(remark.text, Style::kWarning, "");
      return;
    }
    heading("who waits for whom",
            fmt::format(": {}, {} of all ranks' time, in {}", human_seconds(summary_.wait_seconds),
                        percent(summary_.wait_seconds, summary_.all_ranks_seconds()),
                        plural(summary_.waiting_pairs, "pair")));
    std::vector<TimeRow> rows;
    for (const profile::WaitingCall& call : summary_.top_waiting_calls) {
      if (short_ && call.seconds < kLeastShown_s) break;
      const auto rank =
          std::find_if(summary_.rank_times.begin(), summary_.rank_times.end(),
                       [&](const profile::RankTime& time) { return time.rank == call.rank; });
      rows.push_back({fmt::format("{} ← {}", call.rank, call.awaited), call.seconds,
                      rank == summary_.rank_times.end() ? 0 : rank->seconds,
                      fmt::format("{:<13} ", kind_words(call.kind)), call.function, call.site});
    }
    time_rows(rows);
    if (!edges.empty()) wrapped("not included: " + edges, Style::kFaint, "  ");
    for (const Remark& remark : missing) wrapped(remark.text, Style::kWarning, "  ");
  }

  // What limits() says of waits, which this page says beside them.
  std::vector<Remark> about_waits() const {
    std::vector<Remark> list = limits_;
    std::erase_if(list, [](const Remark& remark) { return !is_about_waits(remark); });
    return list;
  }

  std::vector<Remark> other_limits() const {
    std::vector<Remark> list = limits_;
    std::erase_if(list, [](const Remark& remark) { return remark.kind == kNotTimed; });
    if (short_) std::erase_if(list, [](const Remark& remark) { return remark.kind == kNote; });
    if (!summary_.rank_times.empty()) std::erase_if(list, is_about_waits);
    return list;
  }

  static bool is_about_waits(const Remark& remark) { return remark.kind.starts_with(kAboutWaits); }

  // Without shares: these waits are no part of the time between MPI_Init and MPI_Finalize.
  std::string edge_waits() const {
    constexpr double kMatters = 0.01;
    std::string list;
    for (const profile::EdgeWaits& edge : summary_.edge_waits) {
      if (edge.seconds < kMatters * summary_.all_ranks_seconds()) continue;
      list += fmt::format("{}{} {} (most {} ← {})", list.empty() ? "" : ", ", kind_words(edge.kind),
                          human_seconds(edge.seconds), edge.rank, edge.awaited);
    }
    return list;
  }

  static std::string on_path(const profile::PathShare& share) {
    const auto& ranks = share.ranks;
    if (ranks.size() == 1) return fmt::format("rank {}", ranks[0].first);
    if (ranks.size() == 2) {
      const auto [low, high] = std::minmax(ranks[0].first, ranks[1].first);
      return fmt::format("ranks {}, {}", low, high);
    }
    return fmt::format("{} ranks, most {}", ranks.size(), ranks[0].first);
  }

  void critical_path() {
    const auto whole =
        std::find_if(summary_.paths.begin(), summary_.paths.end(),
                     [](const profile::PathSummary& path) { return path.window.empty(); });
    std::string windows;
    for (const profile::PathSummary& path : summary_.paths) {
      if (path.window.empty()) continue;
      windows += (windows.empty() ? "" : ", ") + printable(path.window) + " " +
                 human_seconds(path.seconds);
    }
    if (whole != summary_.paths.end()) {
      heading("critical path", fmt::format(": {}, {} of rank", human_seconds(whole->seconds),
                                           plural(whole->jumps, "change")));
      // Below that, the error is smaller than what the page shows.
      constexpr double kErrorMatters = 0.01;
      if (whole->error_seconds >= kErrorMatters * whole->seconds) {
        wrapped(fmt::format("up to {} ({}) of it may be waiting in the calls that are left out",
                            human_seconds(whole->error_seconds),
                            percent(whole->error_seconds, whole->seconds)),
                Style::kWarning, "  ");
      }
      std::vector<TimeRow> rows;
      const std::size_t most = std::min(short_ ? kFewPathRows : kPathRows, whole->shares.size());
      for (std::size_t i = 0; i < most; ++i) {
        const profile::PathShare& share = whole->shares[i];
        if (short_ && share.seconds < kLeastShown_s) break;
        rows.push_back({on_path(share), share.seconds, whole->seconds,
                        share.program ? "computing before " : "", share.function, share.site});
      }
      time_rows(rows);
    }
    if (!windows.empty())
      wrapped("windows: " + windows + "; see fathom critical-path", Style::kFaint, "  ");
  }

  void totals() {
    const profile::Volume& all = summary_.total;
    if (all.messages == 0) {
      add("no messages were sent");
      return;
    }
    std::string line =
        fmt::format("{} in {}", human_bytes(as_double(all.bytes)), plural(all.messages, "message"));
    if (!summary_.chosen.empty()) {
      line += " of " + printable(summary_.chosen);
    } else if (summary_.hidden.messages > 0) {
      line += fmt::format("; inside MPI calls: {} of the bytes, {} of the messages",
                          percent(as_double(summary_.hidden.bytes), as_double(all.bytes)),
                          percent(as_double(summary_.hidden.messages), as_double(all.messages)));
    }
    wrapped(line, Style::kPlain, "");
  }

  void what_all_adds() {
    const auto notes = static_cast<std::uint64_t>(std::count_if(
        limits_.begin(), limits_.end(), [](const Remark& remark) { return remark.kind == kNote; }));
    wrapped("--all adds tables of calls and traffic" +
                (notes > 0 ? " and " + plural(notes, "note") + " on how this was measured" : ""),
            Style::kFaint, "  ");
  }

  void trust() {
    const Exactness state = exactness(summary_);
    const Style style = state.trust == Trust::kExact    ? Style::kGood
                        : state.trust == Trust::kBroken ? Style::kBad
                                                        : Style::kWarning;
    wrapped(state.sentence, style, "");
  }

  void remarks(const std::vector<Remark>& list, Style style, const std::string& mark) {
    const std::size_t shown = list.size() <= kRemarks ? list.size() : kRemarks - 1;
    for (std::size_t i = 0; i < shown; ++i) wrapped(list[i].text, style, mark);
    if (shown < list.size()) {
      wrapped(
          fmt::format("and {} more of this kind: see fathom report --json", list.size() - shown),
          style, mark);
    }
  }

  // This page is about the first job of the command.
  void other_jobs() {
    if (summary_.other_jobs.empty()) return;
    add("");
    TextTable table;
    table.column("other jobs", TextTable::Align::kLeft);
    table.column("program", TextTable::Align::kLeft);
    for (const char* title : {"ranks", "time", "bytes", "messages"}) table.column(title);
    const std::size_t shown = std::min(kJobRows, summary_.other_jobs.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const OtherJob& job = summary_.other_jobs[i];
      if (job.state.empty()) {
        table.row({printable(job.name), printable(job.program), std::to_string(job.ranks),
                   human_seconds(job.seconds), human_bytes(as_double(job.total.bytes)),
                   grouped(job.total.messages)});
      } else {
        table.row({printable(job.name), job.state, "", "", "", ""});
      }
    }
    add_text(table.text(terminal(), "--json has them all"));
    wrapped((shown < summary_.other_jobs.size()
                 ? fmt::format("and {} more; ", summary_.other_jobs.size() - shown)
                 : "") +
                "fathom report " + printable(summary_.other_jobs.front().command_word) +
                " shows one of them",
            Style::kFaint, "");
  }

  const RunSummary& summary_;
  const bool short_;  // what follows the critical path takes a few lines
  const std::vector<Remark> limits_;
  const profile::Header& header_;
};

}  // namespace

std::string report_text(const RunSummary& summary, const Terminal& terminal, bool all) {
  return ReportPage(summary, terminal, all).text();
}

}  // namespace fathom::cli
