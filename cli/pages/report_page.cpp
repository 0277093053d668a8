// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/report_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/pages/advice.h"
#include "cli/runs/named_call_sites.h"
#include "cli/terminal/units.h"
#include "mpi/meaning.h"

namespace fathom::cli {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kReportColumns = 100;
constexpr std::size_t kNameColumns = 30;
constexpr std::size_t kSiteRows = 10;
constexpr std::size_t kClassRows = 8;
constexpr std::size_t kSizeRows = 9;
constexpr std::size_t kRemarks = 4;  // of each kind; the rest is counted
constexpr std::size_t kLeftColumn = 48;

std::string plural(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

double as_double(std::uint64_t count) { return static_cast<double>(count); }

class ReportPage {
 public:
  ReportPage(const RunSummary& summary, const Terminal& terminal)
      : summary_(summary), terminal_(terminal), header_(summary.header) {}

  std::string text() {
    title();
    if (!summary_.rank_times.empty()) {
      time();
      call_sites();
      add("");
    }
    totals();
    if (summary_.total.messages > 0) {
      add("");
      classes();
      add("");
      side_by_side(sizes(), pairs());
      add("");
      balance();
    }
    add("");
    trust();
    remarks(limits(summary_), Style::kFaint, "  ");
    remarks(warnings(summary_), Style::kWarning, "! ");
    std::string page;
    for (const std::string& line : lines_) page += line + "\n";
    return page;
  }

 private:
  void add(const std::string& line) {
    const std::size_t end = line.find_last_not_of(' ');
    lines_.push_back(line.substr(0, end + 1));
  }

  std::string styled(Style style, const std::string& text) const {
    return terminal_.styled(style, text);
  }

  std::string nice(const std::string& text) const { return terminal_.text(text); }

  void title() {
    std::string name = header_.application.executable;
    name = printable(name.substr(name.rfind('/') + 1));
    if (name.empty()) name = "(unnamed program)";
    std::string facts =
        fmt::format("  {}", plural(static_cast<std::uint64_t>(summary_.ranks), "rank"));
    if (summary_.hosts > 0) facts += fmt::format(" on {}", plural(summary_.hosts, "host"));
    if (header_.application.seconds > 0)
      facts += " · " + human_seconds(header_.application.seconds);
    const std::string mpi =
        header_.mpi.library + (header_.mpi.version.empty() ? "" : " ") + header_.mpi.version;
    if (!mpi.empty()) facts += " · " + printable(mpi);
    if (!header_.mpi.pml.empty()) facts += " (pml " + printable(header_.mpi.pml) + ")";
    if (!header_.source.empty()) facts += " · source " + printable(header_.source);
    const std::string rest =
        left(nice(facts),
             std::max<std::size_t>(kReportColumns - std::min(columns(name), kNameColumns), 1));
    add(styled(Style::kHeading, left(name, std::min(columns(name), kNameColumns))) + rest);
  }

  // Who spends how much of its time in MPI, and what the processes needed.
  void time() {
    const auto& ranks = summary_.rank_times;
    const auto by_share = [](const auto& a, const auto& b) { return a.share() < b.share(); };
    const auto least = std::min_element(ranks.begin(), ranks.end(), by_share);
    const auto most = std::max_element(ranks.begin(), ranks.end(), by_share);
    double all = 0, in_mpi = 0;
    for (const profile::RankTime& rank : ranks) {
      all += rank.seconds;
      in_mpi += rank.mpi_seconds;
    }
    std::string line = fmt::format("{} of the time in MPI", percent(in_mpi, all));
    if (ranks.size() > 1) {
      line += fmt::format(": from {} on rank {} to {} on rank {}",
                          percent(least->mpi_seconds, least->seconds), least->rank,
                          percent(most->mpi_seconds, most->seconds), most->rank);
    }
    const auto largest = std::max_element(
        header_.ranks.begin(), header_.ranks.end(),
        [](const auto& a, const auto& b) { return a.peak_memory_bytes < b.peak_memory_bytes; });
    if (largest != header_.ranks.end() && largest->peak_memory_bytes > 0) {
      line += fmt::format("; memory at most {} on rank {}",
                          human_bytes(as_double(largest->peak_memory_bytes)), largest->rank);
    }
    add(line);
    file_access();
  }

  void file_access() {
    profile::CallSum read, written, all;
    for (const auto& [function, sum] : summary_.functions) {
      const mpi::Meaning& meaning = mpi::meaning_of(function);
      if (meaning.group != mpi::Group::kIo) continue;
      all.calls += sum.calls;
      all.seconds += sum.seconds;
      if (meaning.file == mpi::FileAccess::kRead) read.bytes += sum.bytes;
      if (meaning.file == mpi::FileAccess::kWrite) written.bytes += sum.bytes;
    }
    if (all.calls == 0) return;
    add(fmt::format("MPI-IO: {} in {}, {} read, {} written", plural(all.calls, "call"),
                    human_seconds(all.seconds), human_bytes(as_double(read.bytes)),
                    human_bytes(as_double(written.bytes))));
  }

  void call_sites() {
    double all = 0;
    for (const profile::RankTime& rank : summary_.rank_times) all += rank.seconds;
    add("");
    add(styled(Style::kHeading,
               fmt::format("{} {} {}  {}  {}  {}", left("call site", 43), right("calls", 11),
                           right("time", 10), right("share", 6), right("worst rank", 11),
                           right("bytes", 9))));
    const std::size_t shown = std::min(summary_.sites.size(), kSiteRows);
    for (std::size_t i = 0; i < shown; ++i) site_row(summary_.sites[i], all);
    if (shown == summary_.sites.size()) return;
    profile::CallSum rest;
    for (std::size_t i = shown; i < summary_.sites.size(); ++i) {
      rest.calls += summary_.sites[i].sum.calls;
      rest.seconds += summary_.sites[i].sum.seconds;
      rest.bytes += summary_.sites[i].sum.bytes;
    }
    call_row(fmt::format("{} more", plural(summary_.sites.size() - shown, "call site")), rest, all,
             "");
  }

  void site_row(const profile::SiteTotal& total, double all) {
    const auto site =
        std::find_if(header_.call_sites.begin(), header_.call_sites.end(),
                     [&](const profile::CallSite& known) { return known.id == total.site; });
    const std::string where = site == header_.call_sites.end() ? "" : " in " + describe(*site);
    const std::string most =
        summary_.rank_times.size() < 2
            ? ""
            : fmt::format("{} ({:.2f}{})", total.slowest_rank, total.imbalance, nice("×"));
    call_row(printable(total.function + where), total.sum, all, most);
  }

  void call_row(const std::string& name, const profile::CallSum& sum, double all,
                const std::string& most) {
    add(fmt::format("{} {} {}  {}  {}  {}", left(name, 43), right(grouped(sum.calls), 11),
                    right(human_seconds(sum.seconds), 10), right(percent(sum.seconds, all), 6),
                    right(most, 11), right(human_bytes(as_double(sum.bytes)), 9)));
  }

  void totals() {
    const profile::Volume& all = summary_.total;
    if (all.messages == 0) {
      add("no messages were sent");
      return;
    }
    std::string line =
        fmt::format("{} in {}", human_bytes(as_double(all.bytes)), plural(all.messages, "message"));
    if (summary_.class_name) {
      line += fmt::format(" of class {}", left(printable(*summary_.class_name), 40));
    } else if (summary_.hidden.messages > 0) {
      line += fmt::format("; inside MPI calls: {} of the bytes, {} of the messages",
                          percent(as_double(summary_.hidden.bytes), as_double(all.bytes)),
                          percent(as_double(summary_.hidden.messages), as_double(all.messages)));
    }
    add(line);
  }

  void class_row(const std::string& name, const profile::Volume& volume, Style style) {
    const double mean = as_double(volume.bytes) / std::max(as_double(volume.messages), 1.0);
    const double all = as_double(summary_.total.bytes);
    add(fmt::format("{} {}  {} {}  {}  {}", left(name, 33),
                    right(human_bytes(as_double(volume.bytes)), 8),
                    terminal_.bar(as_double(volume.bytes), all, 20, style),
                    right(percent(as_double(volume.bytes), all), 6),
                    right(grouped(volume.messages), 13), right(human_bytes(mean), 9)));
  }

  void classes() {
    add(styled(Style::kHeading, fmt::format("{} {}  {} {}  {}  {}", left("class", 33),
                                            right("bytes", 8), left("", 20), right("share", 6),
                                            right("messages", 13), right("mean size", 9))));
    const auto& classes = summary_.classes;
    // The last row sums up the classes left out, so that the rows add up to the total above them.
    const std::size_t shown = classes.size() <= kClassRows ? classes.size() : kClassRows - 1;
    profile::Volume rest;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (i < shown) {
        const std::string name =
            printable(classes[i].class_name) + (classes[i].hidden ? " (hidden)" : "");
        class_row(name, classes[i].volume, classes[i].hidden ? Style::kHiddenBar : Style::kBar);
      } else {
        rest.bytes += classes[i].volume.bytes;
        rest.messages += classes[i].volume.messages;
      }
    }
    if (shown < classes.size()) {
      class_row(fmt::format("{} other classes", classes.size() - shown), rest, Style::kBar);
    }
  }

  // The log2 bins, merged in groups of two, four and so on until they fit; empty messages stay
  // separate.
  std::vector<SizeBin> merged_sizes() const {
    std::vector<SizeBin> bins = summary_.sizes;
    for (std::size_t step = 2; bins.size() > kSizeRows; ++step) {
      bins.clear();
      for (const SizeBin& bin : summary_.sizes) {
        std::uint64_t exponent = 0;
        while (bin.low >> exponent > 1) ++exponent;
        const std::uint64_t low = bin.low == 0 ? 0 : std::uint64_t{1} << (exponent / step * step);
        if (bins.empty() || bins.back().low != low) bins.push_back({low, bin.high, 0});
        bins.back().high = bin.high;
        bins.back().messages += bin.messages;
      }
    }
    return bins;
  }

  static std::string size_label(const SizeBin& bin) {
    if (bin.low == bin.high) return fmt::format("{} B", bin.low);
    const std::string low = bin_edge(bin.low), end = bin_edge(bin.high + 1);
    const bool same_unit = low.substr(low.find(' ')) == end.substr(end.find(' '));
    return (same_unit ? low.substr(0, low.find(' ')) : low) + " – " + end;
  }

  Lines sizes() const {
    Lines column = {styled(Style::kHeading, left("message size", 17)) +
                    styled(Style::kHeading, right("messages", kLeftColumn - 17))};
    std::uint64_t most = 0;
    const std::vector<SizeBin> bins = merged_sizes();
    for (const SizeBin& bin : bins) most = std::max(most, bin.messages);
    for (const SizeBin& bin : bins) {
      column.push_back(
          fmt::format("{} {} {}", left(nice(size_label(bin)), 17),
                      terminal_.bar(as_double(bin.messages), as_double(most), 15, Style::kBar),
                      right(grouped(bin.messages), kLeftColumn - 34)));
    }
    if (bins.empty()) column.push_back(left("not recorded", kLeftColumn));
    return column;
  }

  Lines pairs() const {
    Lines column = {styled(Style::kHeading,
                           fmt::format("{} {}  {} {}", left("top pairs", 17), right("bytes", 9),
                                       right("share", 7), right("messages", 12)))};
    for (const profile::PairCount& pair : summary_.top_pairs) {
      column.push_back(fmt::format(
          "{} {}  {} {}", left(nice(fmt::format("{} → {}", pair.source, pair.destination)), 17),
          right(human_bytes(as_double(pair.bytes)), 9),
          right(percent(as_double(pair.bytes), as_double(summary_.total.bytes)), 7),
          right(grouped(pair.messages), 12)));
    }
    return column;
  }

  void side_by_side(const Lines& first, const Lines& second) {
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
      const std::string gap(kLeftColumn, ' ');
      add((i < first.size() ? first[i] : gap) + "  " + (i < second.size() ? second[i] : ""));
    }
  }

  std::string rank_list(const std::vector<BusiestRank>& ranks) const {
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 3); ++i) {
      list += fmt::format("{}{} ({})", i ? ", " : "", ranks[i].rank,
                          human_bytes(as_double(ranks[i].volume.bytes)));
    }
    return list;
  }

  void balance() {
    if (summary_.total.bytes > 0) busiest();
    const std::uint64_t ranks = static_cast<std::uint64_t>(summary_.ranks);
    add(fmt::format("{} {} pairs talked; {} of the {} pairs of different ranks",
                    left("density", 21), grouped(summary_.pairs), percent(summary_.density, 1),
                    grouped(ranks * (ranks - 1))));
    if (summary_.hosts < 2) return;
    add(fmt::format(
        "{} {}, {} of the bytes; {}", left("between hosts", 21),
        human_bytes(as_double(summary_.between_hosts.bytes)),
        percent(as_double(summary_.between_hosts.bytes), as_double(summary_.total.bytes)),
        plural(summary_.between_hosts.messages, "message")));
  }

  void busiest() {
    add(fmt::format("{} {}; the busiest sends {:.2f} {} the mean", left("most sent by rank", 21),
                    rank_list(summary_.top_senders), summary_.imbalance_sent, nice("×")));
    add(fmt::format("{} {}; the busiest receives {:.2f} {} the mean",
                    left("most received by rank", 21), rank_list(summary_.top_receivers),
                    summary_.imbalance_received, nice("×")));
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

  void wrapped(const std::string& sentence, Style style, const std::string& mark) {
    const std::string text = nice(sentence);
    std::string line = mark;
    bool empty = true;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = text.substr(at, end - at);
      if (!empty && columns(line) + 1 + columns(word) > kReportColumns) {
        add(styled(style, line));
        line = std::string(mark.size() + 2, ' ');
        empty = true;
      }
      line += (empty ? "" : " ") + word;
      empty = false;
      at = end + 1;
    }
    add(styled(style, line));
  }

  const RunSummary& summary_;
  const Terminal& terminal_;
  const profile::Header& header_;
  Lines lines_;
};

}  // namespace

std::string report_text(const RunSummary& summary, const Terminal& terminal) {
  return ReportPage(summary, terminal).text();
}

}  // namespace fathom::cli
