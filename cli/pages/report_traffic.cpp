// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/report_traffic.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kNamesInLine = 3;
constexpr std::size_t kClassRows = 8;
constexpr std::size_t kPhaseRows = 6;
constexpr std::size_t kSizeRows = 9;

// The two tables in the middle stand side by side from this width on.
constexpr std::size_t kSideBySide = 80;
constexpr std::size_t kGap = 2;

std::string class_name(const profile::ClassTotal& entry) {
  return printable(entry.class_name) + (entry.hidden ? " (hidden)" : "");
}

std::string phase_name(const PhaseTotal& entry) {
  return entry.phase.empty() ? "(outside of phases)" : printable(entry.phase);
}

std::string pair_name(const profile::PairCount& pair) {
  return fmt::format("{} → {}", pair.source, pair.destination);
}

class TrafficTables {
 public:
  TrafficTables(const RunSummary& summary, PageLines& page)
      : summary_(summary),
        page_(page),
        width_(page.width()),
        half_(width_ < kSideBySide ? width_ : (width_ - kGap) / 2) {}

  void add_all() {
    classes();
    phases();
    page_.add("");
    side_by_side(sizes(), pairs());
    page_.add("");
    balance();
  }

 private:
  // Columns of a table of volumes: name, bytes, bar, share, messages, mean size. The last column and
  // part of the name give way in a narrow terminal; the bar takes what is left.
  struct VolumeColumns {
    std::size_t name, bar;
    bool mean;
  };
  VolumeColumns volume_columns() const {
    constexpr std::size_t kNumbers = 1 + 8 + 2 + 1 + 6 + 2 + 13, kMean = 2 + 9;
    constexpr std::size_t kUsualName = 27, kLeastName = 20, kLeastBar = 6;
    const bool mean = width_ >= kNumbers + kMean + kLeastName + kLeastBar;
    const std::size_t left_over = width_ - kNumbers - (mean ? kMean : 0);
    const std::size_t name = std::clamp(left_over - std::min(left_over, std::size_t{10}),
                                        kLeastName, width_ < 100 ? kUsualName : kUsualName + 6);
    return {name, left_over - name, mean};
  }

  void volume_heading(const std::string& name) {
    const VolumeColumns at = volume_columns();
    page_.add(page_.styled(Style::kHeading,
                           fmt::format("{} {}  {} {}  {}{}", left(name, at.name), right("bytes", 8),
                                       left("", at.bar), right("share", 6), right("messages", 13),
                                       at.mean ? "  " + right("mean size", 9) : "")));
  }

  void volume_row(const std::string& name, const profile::Volume& volume, Style style) {
    const VolumeColumns at = volume_columns();
    const double mean = as_double(volume.bytes) / std::max(as_double(volume.messages), 1.0);
    const double all = as_double(summary_.total.bytes);
    page_.add(fmt::format(
        "{} {}  {} {}  {}{}", left(name, at.name), right(human_bytes(as_double(volume.bytes)), 8),
        page_.terminal().bar(as_double(volume.bytes), all, at.bar, style),
        right(percent(as_double(volume.bytes), all), 6), right(grouped(volume.messages), 13),
        at.mean ? "  " + right(human_bytes(mean), 9) : ""));
  }

  void classes() {
    volume_heading("class");
    const auto& classes = summary_.classes;
    // The last row sums up the classes left out, so that the rows add up to the total above them.
    const std::size_t shown = classes.size() <= kClassRows ? classes.size() : kClassRows - 1;
    profile::Volume rest;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (i < shown) {
        volume_row(class_name(classes[i]), classes[i].volume,
                   classes[i].hidden ? Style::kHiddenBar : Style::kBar);
      } else {
        rest.bytes += classes[i].volume.bytes;
        rest.messages += classes[i].volume.messages;
      }
    }
    if (shown < classes.size()) {
      volume_row(fmt::format("{} other classes", classes.size() - shown), rest, Style::kBar);
    }
  }

  void phases() {
    if (summary_.phases.empty()) return;
    page_.add("");
    volume_heading("phase");
    const auto& phases = summary_.phases;
    const std::size_t shown = phases.size() <= kPhaseRows ? phases.size() : kPhaseRows - 1;
    profile::Volume rest;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (i < shown) {
        volume_row(phase_name(phases[i]), phases[i].volume, Style::kBar);
      } else {
        rest.bytes += phases[i].volume.bytes;
        rest.messages += phases[i].volume.messages;
      }
    }
    if (shown < phases.size())
      volume_row(fmt::format("{} other phases", phases.size() - shown), rest, Style::kBar);
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
    constexpr std::size_t kLabel = 17, kMessages = 13;
    const std::size_t bar = half_ - kLabel - kMessages - 2;
    Lines column = {page_.styled(Style::kHeading, left("message size", kLabel)) +
                    page_.styled(Style::kHeading, right("messages", half_ - kLabel))};
    std::uint64_t most = 0;
    const std::vector<SizeBin> bins = merged_sizes();
    for (const SizeBin& bin : bins) most = std::max(most, bin.messages);
    for (const SizeBin& bin : bins) {
      column.push_back(fmt::format(
          "{} {} {}", left(page_.nice(size_label(bin)), kLabel),
          page_.terminal().bar(as_double(bin.messages), as_double(most), bar, Style::kBar),
          right(grouped(bin.messages), kMessages)));
    }
    if (bins.empty()) column.push_back(left("not recorded", half_));
    return column;
  }

  Lines pairs() const {
    constexpr std::size_t kBytes = 8, kShare = 6, kMessages = 11;
    const std::size_t label = half_ - kBytes - kShare - kMessages - 3;
    const auto row = [&](const std::string& name, const std::string& bytes,
                         const std::string& share, const std::string& messages) {
      return fmt::format("{} {} {} {}", left(name, label), right(bytes, kBytes),
                         right(share, kShare), right(messages, kMessages));
    };
    Lines column = {page_.styled(Style::kHeading, row("top pairs", "bytes", "share", "messages"))};
    for (const profile::PairCount& pair : summary_.top_pairs) {
      column.push_back(row(page_.nice(pair_name(pair)), human_bytes(as_double(pair.bytes)),
                           percent(as_double(pair.bytes), as_double(summary_.total.bytes)),
                           grouped(pair.messages)));
    }
    return column;
  }

  void side_by_side(const Lines& first, const Lines& second) {
    if (width_ < kSideBySide) {
      for (const std::string& line : first) page_.add(line);
      page_.add("");
      for (const std::string& line : second) page_.add(line);
      return;
    }
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
      const std::string gap(half_, ' ');
      page_.add((i < first.size() ? first[i] : gap) + std::string(kGap, ' ') +
                (i < second.size() ? second[i] : ""));
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
    line(fmt::format("{} {} pairs talked; {} of the {} pairs of different ranks",
                     left("density", 21), grouped(summary_.pairs), percent(summary_.density, 1),
                     grouped(ranks * (ranks - 1))));
    if (summary_.hosts < 2) return;
    line(fmt::format(
        "{} {}, {} of the bytes; {}", left("between hosts", 21),
        human_bytes(as_double(summary_.between_hosts.bytes)),
        percent(as_double(summary_.between_hosts.bytes), as_double(summary_.total.bytes)),
        plural(summary_.between_hosts.messages, "message")));
  }

  void busiest() {
    line(fmt::format("{} {}; the busiest sends {:.2f} {} the mean", left("most sent by rank", 21),
                     rank_list(summary_.top_senders), summary_.imbalance_sent, page_.nice("×")));
    line(fmt::format("{} {}; the busiest receives {:.2f} {} the mean",
                     left("most received by rank", 21), rank_list(summary_.top_receivers),
                     summary_.imbalance_received, page_.nice("×")));
  }

  // A line with a label of its own width: its blanks stay.
  void line(const std::string& text) {
    if (columns(text) <= width_) return page_.add(text);
    const std::size_t kLabel = 21;
    const std::vector<std::string> lines =
        wrapped(text.substr(std::min(text.size(), kLabel + 1)), width_, text.substr(0, kLabel + 1));
    for (const std::string& each : lines) page_.add(each);
  }

  const RunSummary& summary_;
  PageLines& page_;
  const std::size_t width_, half_;
};

}  // namespace

void add_traffic_lines(const RunSummary& summary, PageLines& page) {
  const profile::Volume& all = summary.total;
  // "classes: point-to-point 97 %, io (hidden) 2.5 %, and 2 more": of all bytes, or messages where all are
  // empty. `count`: of which `rows` are the first.
  const auto line = [&](const std::string& what, const auto& rows, std::size_t count, auto name_of,
                        auto volume_of) {
    const std::size_t shown = std::min(kNamesInLine, rows.size());
    std::string list;
    for (std::size_t i = 0; i < shown; ++i) {
      const profile::Volume part = volume_of(rows[i]);
      list +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", name_of(rows[i]),
                      all.bytes > 0 ? percent(as_double(part.bytes), as_double(all.bytes))
                                    : percent(as_double(part.messages), as_double(all.messages)));
    }
    if (count > shown) list += fmt::format(", and {} more", count - shown);
    page.wrapped(what + ": " + list, Style::kPlain, "  ");
  };
  const auto own_volume = [](const auto& entry) { return entry.volume; };
  line("classes", summary.classes, summary.classes.size(), class_name, own_volume);
  if (!summary.phases.empty())
    line("phases", summary.phases, summary.phases.size(), phase_name, own_volume);
  line("pairs", summary.top_pairs, summary.pairs, pair_name, [](const profile::PairCount& pair) {
    return profile::Volume{pair.bytes, pair.messages};
  });
}

void add_traffic_tables(const RunSummary& summary, PageLines& page) {
  TrafficTables(summary, page).add_all();
}

}  // namespace fathom::cli
