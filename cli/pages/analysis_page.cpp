// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/analysis_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "analysis/time/time_breakdown.h"
#include "base/order/sort_stably.h"
#include "base/text.h"
#include "cli/pages/analysis_tables.h"
#include "cli/terminal/units.h"
#include "mpi/wait_kind.h"

namespace fathom::cli {
namespace {

using analysis::Finding;
using analysis::Severity;

constexpr std::size_t kRanksShown = 8, kWaitsShown = 4, kFunctionsShown = 4;
constexpr double kSmallest = 0.005;  // share of a row that is shown alone

constexpr std::pair<const char*, const char*> kRowWords[] = {
    {analysis::kComputing, "computing"},
    {analysis::kComputingOrMissing, "computing, or in calls that the trace lacks"},
    {analysis::kTransferring, "transferring"},
    {analysis::kUnexplained, "inside MPI, unexplained"},
    {analysis::kStartUp, "start-up: not yet out of MPI_Init"},
    {analysis::kEnd, "end: in MPI_Finalize before the last rank"},
    {analysis::kStartUpAndEnd, "start-up and end"},
    {analysis::kOtherPhases, "in other phases"},
    {analysis::kNotReported, "of ranks that left no times"},
};

// "3", "0-3, 7", and how many more there are.
std::string rank_list(const std::vector<std::int64_t>& ranks) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < ranks.size() && shown < kRanksShown; ++shown) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    base::add_to_list(text, std::to_string(ranks[i]));
    if (last > i) text += (last > i + 1 ? "-" : ", ") + std::to_string(ranks[last]);
    i = last + 1;
    if (shown + 1 == kRanksShown && i < ranks.size())
      text += fmt::format(" and {} more", ranks.size() - i);
  }
  return text;
}

std::string who(const Finding& finding) {
  std::string text;
  const auto add = [&](const char* what, const std::vector<std::int64_t>& ranks) {
    if (ranks.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, rank_list(ranks));
  };
  add(finding.culprits.size() == 1 ? "culprit: rank" : "culprits: ranks", finding.culprits);
  add(finding.victims.size() == 1 ? "victim: rank" : "victims: ranks", finding.victims);
  if (!finding.pairs.empty()) {
    const analysis::RankPair& worst = finding.pairs.front();
    text += fmt::format("{}{} {} → {}", text.empty() ? "" : "; ",
                        finding.pairs.size() == 1 ? "pair" : "worst pair", worst.source,
                        worst.destination);
  }
  return text;
}

std::string where(const analysis::Where& where,
                  const std::map<std::int64_t, std::string>& communicators) {
  std::string text = printable(where.class_name);
  const auto add = [&](const std::string& part) { base::add_to_list(text, printable(part)); };
  if (!where.function.empty() && where.function != where.class_name) add(where.function);
  if (!where.file.empty())
    add(where.line > 0 ? fmt::format("{}:{}", where.file, where.line) : where.file);
  if (!where.caller.empty()) text += " in " + printable(where.caller);
  if (!where.phase.empty()) add("phase " + where.phase);
  if (where.communicator != profile::kNone) {
    const auto known = communicators.find(where.communicator);
    add(known == communicators.end() ? fmt::format("communicator {}", where.communicator)
                                     : known->second);
  }
  return text;
}

std::string when(const std::vector<analysis::TimeWindow>& windows) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(windows.size(), 3); ++i) {
    text += fmt::format("{}{:.3f}-{:.3f} s", i ? ", " : "", windows[i].from_s, windows[i].to_s);
  }
  return windows.size() > 3 ? text + fmt::format(" and {} more", windows.size() - 3) : text;
}

class AnalysisPage {
 public:
  AnalysisPage(const analysis::Results& results, const Terminal& terminal, const char* all,
               bool tables)
      : results_(results), terminal_(terminal), all_(all), tables_(tables) {}

  std::string text(std::size_t top) {
    title();
    for (const std::string& warning : results_.warnings) wrapped("caution: ", printable(warning));
    time();
    efficiency();
    patterns();
    phases();
    what_if();
    if (tables_) sections();
    for (std::size_t i = 0; i < std::min(top, results_.findings.size()); ++i) {
      finding(i + 1, results_.findings[i]);
    }
    if (results_.findings.size() > top) rest(top);
    limits();
    return page_;
  }

 private:
  void add(const std::string& line) { page_ += line + "\n"; }

  void title() {
    std::string name = results_.application;
    name = printable(name.substr(name.rfind('/') + 1));
    if (name.empty()) name = "(unnamed program)";
    std::string facts =
        fmt::format("  {} rank{}", grouped(static_cast<std::uint64_t>(results_.ranks)),
                    results_.ranks == 1 ? "" : "s");
    if (results_.seconds > 0) facts += " · " + human_seconds(results_.seconds);
    const std::size_t count = results_.findings.size();
    if (count > 0) facts += fmt::format(" · {} finding{}", count, count == 1 ? "" : "s");
    if (count == 0 && !tables_) facts += " · " + without_findings();
    add(terminal_.styled(Style::kHeading, left(name, std::min<std::size_t>(columns(name), 30))) +
        terminal_.text(facts));
  }

  // "Nothing found" is said only where nearly all of the time is explained.
  std::string without_findings() const {
    const analysis::Section* found = section("time-breakdown");
    const double* share = found ? number(*found, "unexplained_share") : nullptr;
    if (!found || found->tables.empty()) return "no findings; times are not known";
    if (!share) return "no findings, but calls are missing";
    if (*share < analysis::kLittleUnexplained) return "nothing found";
    return fmt::format("no findings, but {} of the time is unexplained", percent(*share, 1));
  }

  // Where the time of all ranks went. The rows add up to it, so small waits share a row.
  void time() {
    const analysis::Section* found = section("time-breakdown");
    if (!found || found->tables.empty()) return;
    const double *all = number(*found, "all_ranks_seconds"), *span = number(*found, "span_seconds");
    if (!all || !span || *span <= 0) return;
    const auto& kinds = std::get<std::vector<std::string>>(found->tables[0].columns[0].values);
    const auto& seconds = std::get<std::vector<double>>(found->tables[0].columns[2].values);
    add("");
    wrapped("",
            fmt::format(
                "all ranks' time, {} × {} {}: {}", std::llround(*all / *span), human_seconds(*span),
                results_.scope.whole_time() ? "from MPI_Init to MPI_Finalize" : "in the window",
                human_seconds(*all)));
    std::vector<double> waits;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (is_wait(kinds[i])) waits.push_back(seconds[i]);
    }
    std::sort(waits.rbegin(), waits.rend());
    const double least =
        std::max(kSmallest * *all, waits.size() > kWaitsShown ? waits[kWaitsShown - 1] : 0.0);
    double other_waits_s = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (is_wait(kinds[i]) && seconds[i] < least) {
        other_waits_s += seconds[i];
        continue;
      }
      time_row(words_of(kinds[i]), seconds[i], *all);
      if (kinds[i] == analysis::kUnexplained) unexplained(*found, *all);
    }
    if (other_waits_s > 0) time_row("waiting in other ways", other_waits_s, *all);
    start(*found);
  }

  void time_row(const std::string& what, double seconds, double all) {
    add(terminal_.text(fmt::format("     {} {} {}", left(what, 44),
                                   right(human_seconds(seconds), 11),
                                   right(percent(seconds, all), 6))));
  }

  // The functions with most of the unexplained time, down to half a percent of all.
  void unexplained(const analysis::Section& found, double all) {
    const auto& names = std::get<std::vector<std::string>>(found.tables[1].columns[0].values);
    const auto& seconds = std::get<std::vector<double>>(found.tables[1].columns[2].values);
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < kFunctionsShown; ++i) {
      if (seconds[i] < kSmallest * all) break;
      base::add_to_list(text, printable(names[i]) + " " + human_seconds(seconds[i]));
    }
    if (!text.empty()) add(folded(terminal_.text("       " + text), terminal_.width(), 7));
  }

  void start(const analysis::Section& found) {
    const double *before = number(found, "startup_seconds"),
                 *skew = number(found, "startup_skew_seconds"),
                 *after = number(found, "end_seconds");
    if (!before || !skew || !after || *before + *after <= 0) return;
    std::string text = fmt::format("before that, start-up took {}", human_seconds(*before));
    const std::int64_t* last = number<std::int64_t>(found, "last_to_start");
    if (last && *skew >= kSmallest * *before && *skew > 0)
      text += fmt::format(" (rank {} came {} after the first)", *last, human_seconds(*skew));
    wrapped("", text + fmt::format("; after it, MPI_Finalize {}", human_seconds(*after)));
  }

  static bool is_wait(const std::string& kind) { return mpi::wait_kind_named(kind).has_value(); }

  static std::string words_of(const std::string& kind) {
    if (const auto wait = mpi::wait_kind_named(kind))
      return std::string("waiting: ") + mpi::kWaitKindWords[static_cast<std::size_t>(*wait)];
    for (const auto& [name, words] : kRowWords) {
      if (kind == name) return words;
    }
    return printable(kind);
  }

  template <typename T = double>
  static const T* number(const analysis::Section& section, const std::string& name) {
    for (const analysis::Figure& figure : section.figures) {
      if (figure.name == name) return std::get_if<T>(&figure.value);
    }
    return nullptr;
  }

  // The traffic patterns that explain most.
  void patterns() {
    const std::size_t shown = tables_ ? ~std::size_t{0} : 4;
    const auto* classes = column("patterns", "class");
    const auto* descriptions = column("patterns", "description");
    if (!classes || !descriptions || descriptions->empty()) return;
    add("");
    for (std::size_t i = 0; i < std::min(shown, descriptions->size()); ++i) {
      const std::string& name = (*classes)[i];
      wrapped("", printable(name.empty() ? "all classes" : name) + ": " +
                      printable((*descriptions)[i]));
    }
    if (descriptions->size() > shown) {
      wrapped("", fmt::format("and {} more patterns: {}", descriptions->size() - shown, all_));
    }
  }

  void sections() {
    for (const analysis::NamedSection& named : results_.sections) {
      const std::string text = section_text(named, all_, terminal_.width());
      if (text.empty()) continue;
      add("\n" + terminal_.styled(Style::kHeading, named.name));
      page_ += terminal_.text(text);
    }
  }

  const analysis::Section* section(const std::string& analysis) const {
    for (const analysis::NamedSection& section : results_.sections) {
      if (section.name == analysis) return &section.section;
    }
    return nullptr;
  }

  // The factors of parallel efficiency, as they multiply.
  void what_if() {
    const analysis::Section* found = section("what-if");
    if (!found) return;
    const double *was = number(*found, "run_seconds"), *would = number(*found, "what_if_seconds");
    const auto* changes = number<std::string>(*found, "changes");
    if (!was || !would || !changes) return;
    add("");
    const double saved = *was - *would;
    std::string text = fmt::format("with {}, the run would have taken {} in place of {}",
                                   changes->empty() ? "no change" : printable(*changes),
                                   human_seconds(*would), human_seconds(*was));
    if (saved != 0 && *was > 0)
      text += fmt::format(": {} {} ({})", human_seconds(std::abs(saved)),
                          saved > 0 ? "less" : "more", percent(std::abs(saved), *was));
    const double *part = number(*found, "part_seconds"),
                 *would_part = number(*found, "what_if_part_seconds");
    if (part && would_part)
      text +=
          fmt::format("; a rank spends up to {} in the chosen part, and would have spent up to {}",
                      human_seconds(*part), human_seconds(*would_part));
    wrapped("", text);
  }

  void efficiency() {
    const analysis::Section* found = section("efficiency");
    if (!found) return;
    std::map<std::string, double> factors;
    for (const analysis::Figure& figure : found->figures) {
      if (const auto* value = std::get_if<double>(&figure.value)) factors[figure.name] = *value;
    }
    if (const auto* why = number<std::string>(*found, "not_given")) {
      add("");
      return wrapped("", printable(*why));
    }
    if (factors["parallel_efficiency"] <= 0) return;
    std::string text = fmt::format("parallel efficiency {} = load balance {}",
                                   percent(factors["parallel_efficiency"], 1),
                                   percent(factors["load_balance"], 1));
    if (factors.contains("transfer_efficiency")) {
      text += fmt::format(" × serialisation {} × transfer {}",
                          percent(factors["serialisation_efficiency"], 1),
                          percent(factors["transfer_efficiency"], 1));
    } else {
      text += fmt::format(" × communication {}", percent(factors["communication_efficiency"], 1));
    }
    add("");
    wrapped("", text);
  }

  // The longest phases, in order of time.
  void phases() {
    const std::size_t shown = tables_ ? ~std::size_t{0} : 4,
                      longest = tables_ ? ~std::size_t{0} : 120;
    const analysis::Section* found = section("phases");
    if (!found || found->tables.empty()) return;
    const analysis::Table& table = found->tables[0];
    const auto& iterations = values<std::uint64_t>(table, "iterations");
    const auto& seconds = values<double>(table, "iteration_seconds");
    const auto& begin = values<double>(table, "from_s");
    const auto& end = values<double>(table, "to_s");
    const auto& bodies = values<std::string>(table, "body");
    const std::vector<double>& lengths = values<double>(table, "seconds");
    std::vector<std::size_t> worth_a_line = largest(lengths, shown);
    // Unless they are asked for, very short ones are only in the table.
    if (!tables_)
      std::erase_if(worth_a_line, [&](std::size_t i) {
        return lengths[i] < results_.phase_share * results_.seconds;
      });
    if (!iterations.empty()) add("");
    for (const std::size_t i : worth_a_line) {
      const std::string body = bodies[i].size() > longest
                                   ? bodies[i].substr(0, bodies[i].rfind(',', longest)) + ", …"
                                   : bodies[i];
      wrapped("", fmt::format("phase {}, {:.3f}-{:.3f} s{}: {} iterations of {}: {}", i + 1,
                              begin[i], end[i], place_text(table, i), grouped(iterations[i]),
                              human_seconds(seconds[i]), printable(body)));
      for (const analysis::Table& loops : found->tables) {
        if (loops.name == "loops") inner_loops(loops, static_cast<std::int64_t>(i) + 1);
      }
    }
    const std::size_t more = iterations.size() - worth_a_line.size();
    const char* const plural = more == 1 ? "" : "s";
    if (more > 0 && worth_a_line.empty()) {
      wrapped("", fmt::format("{} short phase{}: {}", more, plural, all_));
    } else if (more > 0) {
      wrapped("", fmt::format("and {} more phase{}: {}", more, plural, all_));
    }
  }

  // The places of the `most` largest values, ascending.
  static std::vector<std::size_t> largest(const std::vector<double>& values, std::size_t most) {
    std::vector<std::size_t> places(values.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    base::sort_stably(places, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    places.resize(std::min(places.size(), most));
    std::sort(places.begin(), places.end());
    return places;
  }

  template <typename T>
  static const std::vector<T>& values(const analysis::Table& table, std::string_view name) {
    return std::get<std::vector<T>>(
        std::find_if(table.columns.begin(), table.columns.end(), [name](const auto& column) {
          return column.name == name;
        })->values);
  }

  // ", in solve (heat.c:40-52)": of a row of the table of phases or of loops.
  static std::string place_text(const analysis::Table& table, std::size_t row) {
    const std::string& name = values<std::string>(table, "name")[row];
    const std::string& file = values<std::string>(table, "file")[row];
    const std::int64_t first = values<std::int64_t>(table, "first_line")[row],
                       last = values<std::int64_t>(table, "last_line")[row];
    if (name.empty()) return "";
    std::string text = ", in " + printable(name);
    if (file.empty()) return text;
    text += " (" + printable(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(first);
    return text + (last > first ? "-" + std::to_string(last) : "") + ")";
  }

  // The loops directly inside the one of the phase that take half of its time.
  void inner_loops(const analysis::Table& table, std::int64_t phase) {
    const auto& phases = values<std::int64_t>(table, "phase");
    const auto& depths = values<std::int64_t>(table, "depth");
    const auto& iterations = values<std::uint64_t>(table, "iterations");
    const auto& seconds = values<double>(table, "seconds");
    const auto& each = values<double>(table, "iteration_seconds");
    double whole = 0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (phases[i] != phase || depths[i] > 1) continue;
      if (depths[i] == 0) {
        whole = seconds[i];
      } else if (2 * seconds[i] >= whole) {
        wrapped("  ", fmt::format("in it, {} iterations of {}{}", grouped(iterations[i]),
                                  human_seconds(each[i]), place_text(table, i)));
      }
    }
  }

  // A column of the table named like its analysis; nullptr if that did not run.
  const std::vector<std::string>* column(const std::string& analysis,
                                         const std::string& name) const {
    for (const analysis::NamedSection& section : results_.sections) {
      if (section.name != analysis || section.section.tables.empty()) continue;
      for (const analysis::NamedColumn& entry : section.section.tables[0].columns) {
        if (entry.name == name) return std::get_if<std::vector<std::string>>(&entry.values);
      }
    }
    return nullptr;
  }

  static Style style_of(Severity severity) {
    return severity == Severity::kCritical  ? Style::kBad
           : severity == Severity::kWarning ? Style::kWarning
                                            : Style::kPlain;
  }

  void finding(std::size_t number, const Finding& finding) {
    add("");
    std::string cost = finding.seconds ? " · " + human_seconds(*finding.seconds) : "";
    if (finding.seconds && results_.all_ranks_seconds > 0) {
      cost += fmt::format(" ({} of all ranks' time)",
                          percent(*finding.seconds, results_.all_ranks_seconds));
    }
    add(terminal_.styled(style_of(finding.severity),
                         fmt::format("{}. {}", number, printable(finding.kind))) +
        terminal_.text(fmt::format(" · {}{} · confidence {}", name_of(finding.severity), cost,
                                   percent(finding.confidence, 1))));
    wrapped("", printable(finding.summary));
    if (finding.meanwhile) wrapped("why: ", printable(analysis::amount_of(*finding.meanwhile)));
    for (const analysis::Symptom& symptom : finding.symptoms)
      wrapped("- ", printable(symptom.text));
    if (finding.symptoms.empty()) {  // a cause has both in its sentences
      wrapped("who: ", who(finding));
      wrapped("where: ", where(finding.where, results_.communicators));
    }
    wrapped("when: ", when(finding.windows));
    wrapped("try: ", printable(finding.advice));
  }

  // The kinds of findings not shown, each once.
  void rest(std::size_t top) {
    std::map<std::string, std::size_t> kinds;
    for (std::size_t i = top; i < results_.findings.size(); ++i) ++kinds[results_.findings[i].kind];
    std::string text;
    for (const auto& [kind, count] : kinds)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
    add("");
    wrapped("", fmt::format("and {} more ({}): --top N, or {}", results_.findings.size() - top,
                            text, all_));
  }

  void limits() {
    if (results_.limits.empty()) return;
    add("");
    constexpr std::size_t kShown = 4;
    for (std::size_t i = 0; i < std::min(kShown, results_.limits.size()); ++i) {
      wrapped("note: ", printable(results_.limits[i]));
    }
    if (results_.limits.size() > kShown) {
      wrapped("", fmt::format("and {} more notes: {}", results_.limits.size() - kShown, all_));
    }
  }

  void wrapped(const std::string& label, const std::string& sentence) {
    if (sentence.empty()) return;
    const std::string text = terminal_.text(label + sentence);
    std::string line = "   ";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = word_end(text, at);
      const std::string word = text.substr(at, end - at);
      if (line.size() > 3 && columns(line) + 1 + columns(word) > terminal_.width()) {
        add(line);
        line = std::string(5, ' ');
      }
      line += (line.find_first_not_of(' ') == line.npos ? "" : " ") + word;
      at = end + 1;
    }
    add(line);
  }

  const analysis::Results& results_;
  const Terminal& terminal_;
  const char* all_;  // the file with all results
  bool tables_;
  std::string page_;
};

}  // namespace

std::string analyze_text(const analysis::Results& results, std::size_t top,
                         const Terminal& terminal, bool written, bool tables) {
  return AnalysisPage(results, terminal, written ? "analysis.json" : "--json", tables).text(top);
}

}  // namespace fathom::cli
