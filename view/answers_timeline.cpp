// SPDX-License-Identifier: BSD-3-Clause
// What the pyramid answers: tiles, the strip of the whole run, the critical path and the named phases.
#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "analysis/scope/scope_filter.h"
#include "base/process/parallel.h"
#include "trace/attributes.h"
#include "view/bytes.h"
#include "view/pyramid/pyramid.h"
#include "view/session.h"

namespace fathom::view {
namespace {

// In the order in which they lie in a tile: falling size, so that each is aligned.
constexpr std::array<const char*, 10> kPlanes{
    "wait_for", "messages",       "bytes_in",  "bytes_out",  "function",
    "phase",    "function_share", "mpi_share", "wait_share", "path_share"};

struct Tile {
  std::vector<std::uint32_t> wait_for, messages;
  std::vector<float> bytes_in, bytes_out;
  std::vector<std::uint16_t> function, phase;
  std::vector<std::uint8_t> function_share, mpi_share, wait_share, path_share;
};

// 255ths; never 0 of something.
std::uint8_t share_of(std::uint64_t ns, std::uint64_t bin_ns) {
  if (ns == 0) return 0;
  const double share = 255.0 * static_cast<double>(ns) / static_cast<double>(bin_ns);
  return static_cast<std::uint8_t>(std::clamp(share + 0.5, 1.0, 255.0));
}

std::uint16_t small_key(std::uint64_t key_plus_one) {
  return key_plus_one == 0 || key_plus_one > 65535 ? 65535
                                                   : static_cast<std::uint16_t>(key_plus_one - 1);
}

void add_calls(Tile& tile, const Columns& calls, std::size_t bins, std::uint64_t bin_ns) {
  const auto at = [&](CallColumn column, std::size_t bin) {
    return bin < calls[column].size() ? calls[column][bin] : 0;
  };
  for (std::size_t bin = 0; bin < bins; ++bin) {
    tile.function.push_back(small_key(at(kFunction, bin)));
    tile.phase.push_back(small_key(at(kPhase, bin)));
    tile.function_share.push_back(share_of(at(kFunctionNs, bin), bin_ns));
    tile.mpi_share.push_back(share_of(at(kMpiNs, bin), bin_ns));
    tile.messages.push_back(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(at(kMessages, bin), std::numeric_limits<std::uint32_t>::max())));
    tile.bytes_in.push_back(static_cast<float>(at(kBytesIn, bin)));
    tile.bytes_out.push_back(static_cast<float>(at(kBytesOut, bin)));
  }
}

void add_waits(Tile& tile, const Columns& waits, std::size_t bins, std::uint64_t bin_ns) {
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const bool there = !waits.empty() && bin < waits[kWaitFor].size();
    const std::uint64_t key = there ? waits[kWaitFor][bin] : 0;
    tile.wait_for.push_back(key == 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(key - 1));
    tile.wait_share.push_back(there ? share_of(waits[kWaitNs][bin], bin_ns) : 0);
    tile.path_share.push_back(there ? share_of(waits[kPathNs][bin], bin_ns) : 0);
  }
}

// Bits of the planes that are wanted; all if none is named.
base::Result<std::uint32_t> planes_of(const Query& query) {
  std::uint32_t bits = 0;
  for (const std::string& word : query.words("planes")) {
    const auto found = std::find(kPlanes.begin(), kPlanes.end(), word);
    if (found == kPlanes.end()) return base::Error{"there is no such plane of a tile"};
    bits |= 1u << (found - kPlanes.begin());
  }
  return bits == 0 ? (1u << kPlanes.size()) - 1 : bits;
}

// The groups of processes of the size that `group` asks for; an Error if there are none of this size.
base::Result<std::uint32_t> depth_of(const Query& query, const Geometry& geometry) {
  const auto group = query.number("group", 1, geometry.processes);
  if (!group) return group.error();
  for (std::uint32_t depth = 0; depth < geometry.depths(); ++depth) {
    if (geometry.group(depth) == *group) return depth;
  }
  return base::Error{"there are no groups of this many processes; meta.timeline.groups lists them"};
}

void put_planes(std::string& body, const Tile& tile, std::uint32_t planes) {
  const auto put_plane = [&](unsigned bit, const auto& plane) {
    if ((planes & 1u << bit) != 0) put_all(body, plane);
  };
  put_plane(0, tile.wait_for);
  put_plane(1, tile.messages);
  put_plane(2, tile.bytes_in);
  put_plane(3, tile.bytes_out);
  put_plane(4, tile.function);
  put_plane(5, tile.phase);
  put_plane(6, tile.function_share);
  put_plane(7, tile.mpi_share);
  put_plane(8, tile.wait_share);
  put_plane(9, tile.path_share);
}

// The pyramid of the run that is asked about, or the answer that says why there is none.
struct Asked {
  ViewedRun* run = nullptr;
  Pyramid* pyramid = nullptr;
  std::shared_ptr<const Layer> calls;
  Reply otherwise;
};

Asked pyramid_of(Session& session, const Query& query) {
  Asked asked;
  const auto run = run_of(session, query);
  if (!run) {
    asked.otherwise = refuse(404, run.error().message);
    return asked;
  }
  asked.run = *run;
  if (const auto loaded = (*run)->loaded(); !loaded) {
    asked.otherwise = refuse(422, loaded.error().message);
    return asked;
  }
  Pyramid* pyramid = (*run)->pyramid();
  if (pyramid == nullptr) {
    asked.otherwise = refuse(422, "a timeline needs a trace; record one with fathom run --trace");
    return asked;
  }
  asked.calls = pyramid->calls();
  if (asked.calls) {
    asked.pyramid = pyramid;
  } else if (const std::string problem = pyramid->problem(); !problem.empty()) {
    asked.otherwise = refuse(422, problem);
  } else {
    asked.otherwise = not_ready(pyramid->progress().what, pyramid->progress().share);
  }
  return asked;
}

constexpr std::size_t kMostShownSpans = 50'000;

// Those that overlap the window; the longest, in order of time, if they are many.
std::size_t keep_window(std::vector<Stretch>& spans, const analysis::Scope& scope,
                        std::size_t most) {
  std::erase_if(spans, [&](const Stretch& span) {
    return span.end_ns <= scope.from_ns || span.begin_ns >= scope.to_ns;
  });
  if (spans.size() <= most) return 0;
  const std::size_t more = spans.size() - most;
  std::nth_element(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(most), spans.end(),
                   [](const Stretch& a, const Stretch& b) {
                     return a.end_ns - a.begin_ns > b.end_ns - b.begin_ns;
                   });
  spans.resize(most);
  std::sort(spans.begin(), spans.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin_ns < b.begin_ns; });
  return more;
}

// The lines of the pyramid whose sums are those of the processes. All numbers of a strip are sums, and so are those of
// the coarsest lines, which hold all processes.
std::vector<std::uint64_t> strip_lines(const Geometry& geometry, const analysis::Scope& scope,
                                       const std::vector<std::uint32_t>& processes) {
  if (scope.ranks) return {processes.begin(), processes.end()};
  std::vector<std::uint64_t> lines;
  for (std::uint64_t line = geometry.first_line(geometry.depths() - 1); line < geometry.all_lines();
       ++line)
    lines.push_back(line);
  return lines;
}

struct StripSums {
  std::vector<std::uint64_t> mpi, waiting, path, messages, in, out;  // by bin of level 0

  StripSums(const std::vector<std::uint64_t>& lines, const Layer& calls, const Layer* waits,
            std::size_t bins)
      : mpi(bins), waiting(bins), path(bins), messages(bins), in(bins), out(bins) {
    for (const std::uint64_t line : lines) {
      const Columns of_calls = calls.read(line, 0, 0);
      add(mpi, of_calls, kMpiNs);
      add(messages, of_calls, kMessages);
      add(in, of_calls, kBytesIn);
      add(out, of_calls, kBytesOut);
      const Columns of_waits = waits != nullptr ? waits->read(line, 0, 0) : Columns{};
      add(waiting, of_waits, kWaitNs);
      add(path, of_waits, kPathNs);
    }
  }

 private:
  static void add(std::vector<std::uint64_t>& sums, const Columns& columns, std::size_t column) {
    for (std::size_t bin = 0; bin < sums.size() && !columns.empty(); ++bin)
      sums[bin] += columns[column][bin];
  }
};

// Time by group of functions and bin, of some processes. The pyramid keeps that of all processes only, so it is
// counted here as there (pyramid/builder.cpp): the outermost calls of the first thread. Costs a pass over their events.
GroupStrip strip_of(const CallsInWindow& calls, const trace::Definitions& definitions,
                    const Geometry& geometry, const std::vector<std::uint32_t>& processes) {
  GroupStrip sum(kStripGroups, std::vector<std::uint64_t>(geometry.bins(0)));
  const std::uint64_t width = geometry.bin_ns(0);
  std::mutex mutex;
  base::in_parallel(processes.size(), [&](std::size_t i) {
    GroupStrip strip(sum.size(), std::vector<std::uint64_t>(geometry.bins(0)));
    calls.for_each(processes[i], geometry.from_ns, geometry.to_ns, [&](const SeenCall& call) {
      if (call.depth > 0 || call.thread > 0 || call.function >= definitions.functions.size())
        return;
      std::vector<std::uint64_t>& group =
          strip[static_cast<std::size_t>(definitions.functions[call.function].group)];
      const std::uint64_t end_ns = std::min(call.leave_ns, geometry.to_ns);
      for (std::uint64_t at = std::max(call.enter_ns, geometry.from_ns); at < end_ns;) {
        const std::uint64_t bin = (at - geometry.from_ns) / width;
        const std::uint64_t until = std::min(end_ns, geometry.from_ns + (bin + 1) * width);
        group[bin] += until - at;
        at = until;
      }
    });
    const std::lock_guard lock(mutex);
    for (std::size_t group = 0; group < sum.size(); ++group) {
      for (std::size_t bin = 0; bin < sum[group].size(); ++bin)
        sum[group][bin] += strip[group][bin];
    }
  });
  return sum;
}

template <typename Of>
void write_spans(base::JsonWriter& json, const char* name, const std::vector<Stretch>& spans,
                 const char* extra, Of of) {
  json.object(name, [&] {
    json.list("process", spans, [&](const Stretch& span) { json.value(span.process); });
    json.list("begin_ns", spans, [&](const Stretch& span) { json.value(span.begin_ns); });
    json.list("end_ns", spans, [&](const Stretch& span) { json.value(span.end_ns); });
    json.list(extra, spans, [&](const Stretch& span) { json.value(of(span)); });
  });
}

}  // namespace

Reply answer_tile(Session& session, const Query& query) {
  const Asked asked = pyramid_of(session, query);
  if (asked.pyramid == nullptr) return asked.otherwise;
  const Geometry& geometry = asked.pyramid->geometry();
  const auto level = query.number("level", 0, geometry.levels - 1);
  if (!level) return refuse(404, level.error().message);
  const auto width = static_cast<std::uint32_t>(*level);
  const auto depth = depth_of(query, geometry);
  if (!depth) return refuse(404, depth.error().message);
  const auto row = query.number("row", 0, geometry.rows(*depth) - 1);
  if (!row) return refuse(404, row.error().message);
  const auto column = query.number("column", 0, geometry.columns(width) - 1);
  if (!column) return refuse(404, column.error().message);
  const auto planes = planes_of(query);
  if (!planes) return refuse(400, planes.error().message);
  const std::shared_ptr<const Layer> waits = asked.pyramid->waits();
  const std::uint64_t bins = std::min(kBins, geometry.bins(width) - *column * kBins);
  const std::uint64_t group = geometry.group(*depth);
  const std::uint64_t first = *row * kRows;
  const std::uint64_t lines = std::min<std::uint64_t>(kRows, geometry.lines(*depth) - first);
  const std::uint64_t bin_ns = geometry.bin_ns(width);
  Tile tile;
  for (std::uint64_t line = first; line < first + lines; ++line) {
    const std::uint64_t at = geometry.first_line(*depth) + line;
    const Columns calls = asked.calls->read(at, width, *column);
    if (calls.empty())
      return refuse(422,
                    "a part of the timeline's pyramid is damaged; remove " + asked.run->folder());
    const std::uint64_t members = std::min(group, geometry.processes - line * group);
    add_calls(tile, calls, bins, bin_ns * members);
    add_waits(tile, waits ? waits->read(at, width, *column) : Columns{}, bins, bin_ns * members);
  }
  Reply reply;
  reply.type = kBinary;
  reply.lasts = waits != nullptr;
  std::string& body = reply.body;
  body = "FVT1";
  for (const std::uint64_t number : {*level, *row, *column})
    put(body, static_cast<std::uint32_t>(number));
  put_real(body, geometry.from_ns + *column * kBins * bin_ns);
  put_real(body, bin_ns);
  put(body, static_cast<std::uint32_t>(lines));
  put(body, static_cast<std::uint32_t>(bins));
  put(body, *planes);
  put(body, waits ? 7u : 1u);
  put(body, static_cast<std::uint32_t>(first * group));
  put(body, static_cast<std::uint32_t>(group));
  put(body, std::uint32_t{width + 1 == geometry.levels});
  put(body, 0u);
  put_planes(body, tile, *planes);
  return reply;
}

Reply answer_strip(Session& session, const Query& query) {
  const Asked asked = pyramid_of(session, query);
  if (asked.pyramid == nullptr) return asked.otherwise;
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  const auto loaded = asked.run->loaded();
  if (!loaded) return refuse(422, loaded.error().message);
  const trace::Trace& trace = *(*loaded)->trace;
  const Geometry& geometry = asked.pyramid->geometry();
  const std::shared_ptr<const Layer> waits = asked.pyramid->waits();
  const std::size_t bins = std::min(kBins, geometry.bins(0));
  const std::vector<std::uint32_t> processes =
      analysis::ScopeFilter(*scope, trace.definitions()).chosen();
  const StripSums sums(strip_lines(geometry, *scope, processes), *asked.calls, waits.get(), bins);
  const GroupStrip by_group =
      scope->ranks ? strip_of(asked.run->calls(trace), trace.definitions(), geometry, processes)
                   : unpack_call_tail(asked.calls->tail(), bins).strip;
  std::vector<std::string> groups;
  for (std::size_t group = 0; group < by_group.size(); ++group)
    groups.emplace_back(trace::name_of(static_cast<trace::Group>(group)));
  Reply reply = json_reply([&](base::JsonWriter& json) {
    json.field("from_ns", geometry.from_ns);
    json.field("bin_ns", geometry.bin_ns(0));
    json.field("bins", bins);
    json.field("groups", groups);
    json.field("ns", by_group);
    json.field("bytes", sums.in);
    json.field("all_ns", geometry.bin_ns(0) * processes.size());
    json.field("mpi_ns", sums.mpi);
    json.field("wait_ns", sums.waiting);
    json.field("path_ns", sums.path);
    json.field("messages", sums.messages);
    json.field("bytes_in", sums.in);
    json.field("bytes_out", sums.out);
    json.field("ready", waits ? 7 : 1);
  });
  reply.lasts = waits != nullptr;
  return reply;
}

Reply answer_path(Session& session, const Query& query) {
  const Asked asked = pyramid_of(session, query);
  if (asked.pyramid == nullptr) return asked.otherwise;
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  const auto waits = asked.pyramid->waits();
  if (!waits) return not_ready(asked.pyramid->progress().what, asked.pyramid->progress().share);
  auto spans = unpack_stretches(waits->tail());
  const std::size_t more = keep_window(spans, *scope, kMostShownSpans);
  return json_reply([&](base::JsonWriter& json) {
    write_spans(json, "path", spans, "function", [](const Stretch& span) {
      return span.number == ~std::uint32_t{0} ? -1 : static_cast<std::int64_t>(span.number);
    });
    json.field("more", more);
  });
}

Reply answer_phases(Session& session, const Query& query) {
  const Asked asked = pyramid_of(session, query);
  if (asked.pyramid == nullptr) return asked.otherwise;
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  auto spans = unpack_call_tail(asked.calls->tail(), asked.pyramid->geometry().bins(0)).phases;
  const std::size_t more = keep_window(spans, *scope, kMostShownSpans);
  return json_reply([&](base::JsonWriter& json) {
    write_spans(json, "named", spans, "phase", [](const Stretch& span) { return span.number; });
    json.field("more", more);
  });
}

}  // namespace fathom::view
