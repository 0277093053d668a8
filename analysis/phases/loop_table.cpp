// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/loop_table.h"

#include <algorithm>

#include "base/seconds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostNames = 3;  // of functions, in the name of a loop

class Lines {
 public:
  Lines(std::uint32_t process, std::uint32_t loop, const std::vector<std::uint64_t>& addresses,
        std::vector<LoopLine>& lines)
      : process_(process),
        loop_(loop),
        addresses_(addresses),
        lines_(lines),
        end_(lines.size() + kMostLines) {}

  void add(const CallItem& item, std::uint32_t depth) {
    LoopLine* line = next(depth);
    if (!line) return;
    line->calls = item.calls;
    if (!item.is_loop()) {
      line->function = item.function;
      line->address = item.site < addresses_.size() ? addresses_[item.site] : 0;
      return;
    }
    const Iterations& all = item.iterations;
    line->kind = LoopLine::kLoop;
    line->fewest = all.fewest;
    line->most = all.most;
    line->iterations = all.count;
    line->entered = all.entered;
    line->ns = all.sum_ns;
    line->begin_ns = item.begin_ns;
    line->end_ns = item.end_ns;
    for (const CallItem& inner : item.body) add(inner, depth + 1);
    for (const CallBranch& branch : item.branches) {
      LoopLine* head = next(depth + 1);
      if (!head) return;
      head->kind = LoopLine::kBranch;
      head->iterations = branch.iterations;
      for (const CallItem& inner : branch.items) add(inner, depth + 2);
    }
  }

 private:
  LoopLine* next(std::uint32_t depth) {
    if (lines_.size() >= end_) return nullptr;
    LoopLine& line = lines_.emplace_back();
    line.process = process_;
    line.loop = loop_;
    line.depth = depth;
    return &line;
  }

  std::uint32_t process_, loop_;
  const std::vector<std::uint64_t>& addresses_;
  std::vector<LoopLine>& lines_;
  std::size_t end_;
};

// The contents, one level deeper, of a line that was just passed.
std::string contents_text(std::span<const LoopLine> lines, std::size_t& at, std::uint32_t depth,
                          const trace::Definitions& definitions) {
  std::string text;
  while (at < lines.size() && lines[at].depth >= depth) {
    const LoopLine& line = lines[at++];
    if (line.kind == LoopLine::kCall) {
      base::add_to_list(text, definitions.functions[line.function].name);
      continue;
    }
    std::string what = contents_text(lines, at, depth + 1, definitions);
    if (line.kind == LoopLine::kBranch) {
      text += "; " + std::to_string(line.iterations) + " times instead: " + what;
      continue;
    }
    // Otherwise "2 × MPI_Send, MPI_Recv" would not show where the inner loop ends.
    if (what.find(',') != std::string::npos) what = "(" + what + ")";
    const std::string times = std::to_string(line.fewest) +
                              (line.most > line.fewest ? "–" + std::to_string(line.most) : "");
    base::add_to_list(text, times + " × " + what);
  }
  return text;
}

}  // namespace

void add_loop(std::uint32_t process, std::uint32_t loop, const CallItem& item,
              const std::vector<std::uint64_t>& addresses, std::vector<LoopLine>& lines) {
  Lines(process, loop, addresses, lines).add(item, 0);
}

std::string body_text(std::span<const LoopLine> lines, const trace::Definitions& definitions) {
  if (lines.empty()) return "";
  std::size_t at = 1;
  return contents_text(lines, at, lines[0].depth + 1, definitions);
}

LoopName name_of(std::span<const LoopLine> lines, LoopSites& sites) {
  LoopName found;
  std::vector<std::string> names;
  for (const LoopLine& line : lines) {
    if (line.kind != LoopLine::kCall || line.address == 0) continue;
    const trace::CodeSite& site = sites.place(line.process, line.address);
    const std::string name = site.function.empty() ? describe(site) : site.function;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (site.line == 0) continue;
    if (found.file.empty()) {
      found.file = site.file;
      found.first_line = found.last_line = site.line;
    } else if (site.file == found.file) {
      found.first_line = std::min<std::int64_t>(found.first_line, site.line);
      found.last_line = std::max<std::int64_t>(found.last_line, site.line);
    }
  }
  const bool more = names.size() > kMostNames;
  names.resize(std::min(names.size(), kMostNames));
  if (more) names.emplace_back("…");
  found.name = base::joined(names);
  return found;
}

std::span<const LoopLine> lines_of_loop(std::span<const LoopLine> lines, std::size_t at) {
  std::size_t end = at + 1;
  while (end < lines.size() && lines[end].depth > lines[at].depth) ++end;
  return lines.subspan(at, end - at);
}

std::vector<LoopOfPhase> loops_of_phase(std::int64_t phase, std::int64_t rank,
                                        std::span<const LoopLine> lines, double fewest) {
  std::vector<LoopOfPhase> loops;
  std::vector<const LoopLine*> around;  // the loops around the line, outermost first
  std::vector<std::int64_t> numbers;    // theirs
  for (std::size_t at = 0; at < lines.size(); ++at) {
    while (!around.empty() && around.back()->depth >= lines[at].depth) {
      around.pop_back();
      numbers.pop_back();
    }
    const LoopLine& line = lines[at];
    if (line.kind != LoopLine::kLoop || (at > 0 && static_cast<double>(line.most) < fewest))
      continue;
    LoopOfPhase loop{
        phase, std::ssize(loops) + 1,   numbers.empty() ? 0 : numbers.back(), std::ssize(around),
        rank,  lines_of_loop(lines, at)};
    loops.push_back(loop);
    around.push_back(&line);
    numbers.push_back(loop.loop);
  }
  return loops;
}

void lay_out_loops(const std::vector<LoopOfPhase>& loops, LoopSites& sites,
                   const trace::Definitions& definitions, Section& section) {
  std::vector<LoopName> names;
  for (const LoopOfPhase& loop : loops) names.push_back(name_of(loop.lines, sites));
  const auto itself = [](const LoopOfPhase& loop) -> const LoopLine& { return loop.lines[0]; };
  Table& table = section.table("loops");
  add_column(table, "phase", loops, [](const LoopOfPhase& loop) { return loop.phase; });
  add_column(table, "loop", loops, [](const LoopOfPhase& loop) { return loop.loop; });
  add_column(table, "inside", loops, [](const LoopOfPhase& loop) { return loop.inside; });
  add_column(table, "depth", loops, [](const LoopOfPhase& loop) { return loop.depth; });
  add_column(table, "name", names, [](const LoopName& name) { return name.name; });
  add_column(table, "file", names, [](const LoopName& name) { return name.file; });
  add_column(table, "first_line", names, [](const LoopName& name) { return name.first_line; });
  add_column(table, "last_line", names, [](const LoopName& name) { return name.last_line; });
  add_column(table, "rank", loops, [](const LoopOfPhase& loop) { return loop.rank; });
  add_column(table, "iterations", loops,
             [&](const LoopOfPhase& loop) { return itself(loop).iterations; });
  add_column(table, "entered", loops,
             [&](const LoopOfPhase& loop) { return itself(loop).entered; });
  add_column(table, "fewest_iterations", loops,
             [&](const LoopOfPhase& loop) { return itself(loop).fewest; });
  add_column(table, "most_iterations", loops,
             [&](const LoopOfPhase& loop) { return itself(loop).most; });
  add_column(table, "calls", loops, [&](const LoopOfPhase& loop) { return itself(loop).calls; });
  add_column(table, "seconds", loops,
             [&](const LoopOfPhase& loop) { return base::seconds(itself(loop).ns); });
  add_column(table, "iteration_seconds", loops, [&](const LoopOfPhase& loop) {
    return base::seconds(itself(loop).ns) / static_cast<double>(itself(loop).iterations);
  });
  add_column(table, "body", loops,
             [&](const LoopOfPhase& loop) { return body_text(loop.lines, definitions); });
}

}  // namespace fathom::analysis
