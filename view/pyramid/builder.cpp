// SPDX-License-Identifier: BSD-3-Clause
#include "view/pyramid/builder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/calls/call_stack.h"
#include "analysis/engine/each_wait.h"
#include "analysis/path/critical_path.h"
#include "view/pyramid/dominant_bins.h"
#include "view/pyramid/layer.h"
#include "view/pyramid/row_groups.h"

namespace fathom::view {
namespace {

using trace::Event;
using trace::EventKind;

// Numbers that are summed: those of a level are sums of four of the next.
std::vector<std::vector<std::uint64_t>> by_level(std::vector<std::uint64_t> finest,
                                                 const Geometry& geometry) {
  std::vector<std::vector<std::uint64_t>> levels(geometry.levels);
  levels.back() = std::move(finest);
  for (std::uint32_t level = geometry.levels - 1; level-- > 0;) {
    levels[level].resize(geometry.bins(level));
    for (std::size_t bin = 0; bin < levels[level + 1].size(); ++bin)
      levels[level][bin / 4] += levels[level + 1][bin];
  }
  return levels;
}

// A key and "none" as one column: key + 1, or 0.
std::vector<std::uint64_t> plus_one(const std::vector<std::uint32_t>& keys) {
  std::vector<std::uint64_t> column;
  column.reserve(keys.size());
  for (const std::uint32_t key : keys)
    column.push_back(key == DominantBins::kNone ? 0 : std::uint64_t{key} + 1);
  return column;
}

// The events of one process, in order of time.
class CallBins {
 public:
  CallBins(const Geometry& geometry, std::uint32_t process,
           const std::vector<trace::Function>& known)
      : geometry_(geometry),
        process_(process),
        functions_(geometry),
        phases_(geometry),
        strip_(kStripGroups, std::vector<std::uint64_t>(geometry.bins(0))),
        known_(known),
        messages_(geometry.bins(geometry.levels - 1)),
        bytes_in_(messages_.size()),
        bytes_out_(messages_.size()) {}

  void take(const Event& event) {
    last_ns_ = event.time_ns;
    switch (event.kind) {
      case EventKind::kEnter:
        if (event.thread == 0) open_.push_back({event.time_ns, event.function});
        return;
      case EventKind::kLeave:
        if (event.thread == 0) leave(event.function, event.time_ns);
        return;
      case EventKind::kMessageSent: return count(event, bytes_out_);
      case EventKind::kMessageReceived: return count(event, bytes_in_);
      case EventKind::kPhaseBegin:
      case EventKind::kPhaseEnd:
        phase_until(event.time_ns);
        take_phase(event);
        return;
      default: return;
    }
  }

  std::vector<Columns> finish() {
    if (!open_.empty()) add_call(open_.front(), last_ns_);
    phase_until(last_ns_);
    for (const Stretch& span : open_phases_) close_phase(span);
    functions_.finish();
    phases_.finish();
    const auto messages = by_level(std::move(messages_), geometry_);
    const auto bytes_in = by_level(std::move(bytes_in_), geometry_);
    const auto bytes_out = by_level(std::move(bytes_out_), geometry_);
    std::vector<Columns> levels(geometry_.levels);
    for (std::uint32_t level = 0; level < geometry_.levels; ++level) {
      const DominantBins::Level& calls = functions_.levels()[level];
      levels[level] = {plus_one(calls.key), calls.ns,
                       calls.total_ns,      plus_one(phases_.levels()[level].key),
                       messages[level],     bytes_in[level],
                       bytes_out[level]};
    }
    return levels;
  }

  const std::vector<Stretch>& phase_spans() const { return phase_spans_; }
  const GroupStrip& strip() const { return strip_; }

 private:
  struct Open {
    std::uint64_t enter_ns = 0;
    std::uint32_t function = 0;
  };

  void leave(std::uint32_t function, std::uint64_t time_ns) {
    const std::size_t closed = analysis::CallStacks::closed_by(open_, function);
    if (closed == 0) return;
    const Open outermost = open_.front();
    open_.resize(open_.size() - closed);
    if (open_.empty()) add_call(outermost, time_ns);
  }

  void add_call(const Open& call, std::uint64_t end_ns) {
    functions_.add(call.enter_ns, end_ns, call.function);
    if (call.function >= known_.size()) return;
    std::vector<std::uint64_t>& strip =
        strip_[static_cast<std::size_t>(known_[call.function].group)];
    const std::uint64_t width = geometry_.bin_ns(0);
    std::uint64_t at = std::max({call.enter_ns, geometry_.from_ns, strip_until_ns_});
    end_ns = std::min(end_ns, geometry_.to_ns);
    strip_until_ns_ = std::max(strip_until_ns_, end_ns);
    while (at < end_ns) {
      const std::uint64_t bin = (at - geometry_.from_ns) / width;
      const std::uint64_t until = std::min(end_ns, geometry_.from_ns + (bin + 1) * width);
      strip[bin] += until - at;
      at = until;
    }
  }

  void count(const Event& event, std::vector<std::uint64_t>& bytes) {
    if (event.time_ns < geometry_.from_ns || event.time_ns >= geometry_.to_ns) return;
    const std::uint64_t bin = (event.time_ns - geometry_.from_ns) / geometry_.finest_ns;
    ++messages_[bin];
    bytes[bin] += event.bytes;
  }

  void phase_until(std::uint64_t time_ns) {
    const std::uint32_t phase = stack_.now();
    if (phase != analysis::PhaseStack::kNone) phases_.add(phase_since_ns_, time_ns, phase);
    phase_since_ns_ = time_ns;
  }

  void take_phase(const Event& event) {
    stack_.take(event);
    if (event.kind == EventKind::kPhaseBegin) {
      open_phases_.push_back({event.time_ns, 0, process_, event.code});
      return;
    }
    const auto found = std::find_if(open_phases_.rbegin(), open_phases_.rend(),
                                    [&](const Stretch& span) { return span.number == event.code; });
    if (found == open_phases_.rend()) return;
    close_phase(*found);
    open_phases_.erase(std::next(found).base());
  }

  void close_phase(Stretch span) {
    span.end_ns = last_ns_;
    if (phase_spans_.size() < kMostStretches) phase_spans_.push_back(span);
  }

  const Geometry geometry_;
  const std::uint32_t process_;
  DominantBins functions_, phases_;
  GroupStrip strip_;
  const std::vector<trace::Function>& known_;
  std::uint64_t strip_until_ns_ = 0;
  std::vector<std::uint64_t> messages_, bytes_in_, bytes_out_;
  std::vector<Open> open_;  // of the first thread
  analysis::PhaseStack stack_;
  std::vector<Stretch> open_phases_, phase_spans_;
  std::uint64_t phase_since_ns_ = 0, last_ns_ = 0;
};

using Kind = ColumnRule;

constexpr ColumnRule kCallRules[kCallColumns] = {{Kind::kKey, kFunctionNs},
                                                 {Kind::kSumOfKey},
                                                 {Kind::kSum},
                                                 {Kind::kKey},
                                                 {Kind::kSum},
                                                 {Kind::kSum},
                                                 {Kind::kSum}};
constexpr ColumnRule kWaitRules[kWaitColumns] = {{Kind::kKey, kWaitNs}, {Kind::kSum}, {Kind::kSum}};

// What the threads of build_call_layer share.
struct CallBuild {
  CallBuild(const trace::Trace& of, const Geometry& shape, BuildState& shared)
      : trace(of),
        geometry(shape),
        state(shared),
        strip(kStripGroups, std::vector<std::uint64_t>(shape.bins(0))) {}

  const trace::Trace& trace;
  const Geometry& geometry;
  BuildState& state;
  std::mutex mutex;  // of the following
  std::vector<Stretch> phases;
  GroupStrip strip;

  std::optional<std::vector<Columns>> line_of(std::uint32_t process) {
    CallBins bins(geometry, process, trace.definitions().functions);
    trace::EventCursor cursor = trace.events(process);
    Event event;
    for (std::uint64_t count = 0; cursor.next(event); ++count) {
      bins.take(event);
      if ((count & 0xffff) == 0 && state.stop) return std::nullopt;
    }
    std::vector<Columns> line = bins.finish();
    const std::lock_guard lock(mutex);
    const auto& spans = bins.phase_spans();
    const std::size_t room = kMostStretches - phases.size();
    phases.insert(phases.end(), spans.begin(),
                  spans.begin() + static_cast<std::ptrdiff_t>(std::min(room, spans.size())));
    for (std::size_t group = 0; group < strip.size(); ++group) {
      for (std::size_t bin = 0; bin < strip[group].size(); ++bin)
        strip[group][bin] += bins.strip()[group][bin];
    }
    return line;
  }
};

// The waits of one process, in order of time.
void add_waits(const analysis::JoinedJob& job, std::uint32_t process, DominantBins& bins) {
  struct Waited {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t culprit = 0;
  };
  std::vector<Waited> waits;
  analysis::for_each_wait(job, process,
                          [&](const analysis::Step& call, const analysis::Wait& wait) {
                            if (call.thread != 0) return;
                            waits.push_back({call.time_ns, call.time_ns + wait.ns, wait.culprit});
                          });
  for (std::size_t i = waits.size(); i-- > 0;)
    bins.add(waits[i].begin_ns, waits[i].end_ns, waits[i].culprit);
}

// u32 bytes of the packed strip, the strip, the phases.
std::string call_tail(const CallBuild& build) {
  const std::string strip = pack_columns(build.strip);
  const auto bytes = static_cast<std::uint32_t>(strip.size());
  return std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + strip +
         pack_stretches(build.phases);
}

}  // namespace

CallTail unpack_call_tail(std::string_view tail, std::size_t bins) {
  std::uint32_t bytes = 0;
  if (tail.size() < sizeof bytes) return {};
  std::memcpy(&bytes, tail.data(), sizeof bytes);
  tail.remove_prefix(sizeof bytes);
  if (bytes > tail.size()) return {};
  return {unpack_columns(tail.substr(0, bytes), kStripGroups, bins),
          unpack_stretches(tail.substr(bytes))};
}

std::string pack_stretches(const std::vector<Stretch>& stretches) {
  Columns columns(4);
  std::uint64_t before_ns = 0;
  for (const Stretch& one : stretches) {
    columns[0].push_back(one.begin_ns - before_ns);  // small, whatever the sign: it wraps
    columns[1].push_back(one.end_ns - one.begin_ns);
    columns[2].push_back(one.process);
    columns[3].push_back(static_cast<std::uint32_t>(one.number + 1));
    before_ns = one.begin_ns;
  }
  const std::uint64_t count = stretches.size();
  return std::string(reinterpret_cast<const char*>(&count), sizeof count) + pack_columns(columns);
}

std::vector<Stretch> unpack_stretches(std::string_view tail) {
  std::uint64_t count = 0;
  if (tail.size() < sizeof count) return {};
  std::memcpy(&count, tail.data(), sizeof count);
  if (count > kMostStretches) return {};
  const Columns columns = unpack_columns(tail.substr(sizeof count), 4, count);
  std::vector<Stretch> stretches;
  std::uint64_t begin_ns = 0;
  for (std::size_t i = 0; i < count && !columns.empty(); ++i) {
    begin_ns += columns[0][i];
    stretches.push_back({begin_ns, begin_ns + columns[1][i],
                         static_cast<std::uint32_t>(columns[2][i]),
                         static_cast<std::uint32_t>(columns[3][i] - 1)});
  }
  return stretches;
}

base::Status build_call_layer(const trace::Trace& trace, const Geometry& geometry,
                              std::uint64_t identity, const std::string& path, unsigned threads,
                              BuildState& state) {
  state.done = 0;
  CallBuild build(trace, geometry, state);
  LayerWriter writer(geometry, kCallColumns, identity);
  const std::lock_guard writing(state.writing);
  if (const auto opened = writer.open(path); !opened) return opened;
  if (!write_lines(writer, geometry, kCallRules, threads, state,
                   [&build](std::uint32_t process) { return build.line_of(process); })) {
    writer.abandon();
    return base::Error{"stopped"};
  }
  std::sort(build.phases.begin(), build.phases.end(), [](const auto& a, const auto& b) {
    return std::tie(a.process, a.begin_ns, b.end_ns) < std::tie(b.process, b.begin_ns, a.end_ns);
  });
  return writer.commit(call_tail(build));
}

base::Status build_wait_layer(analysis::JoinedJob& job, const Geometry& geometry,
                              std::uint64_t identity, const std::string& path, unsigned threads,
                              BuildState& state) {
  state.done = 0;
  const auto pass = analysis::critical_path_pass(job, std::numeric_limits<std::size_t>::max());
  analysis::run_passes(job.transport(), {pass.pass.get()});
  const analysis::CriticalPath found = pass.result();
  std::vector<std::vector<Stretch>> by_process(geometry.processes);
  std::vector<Stretch> spans;
  for (const analysis::PathStretch& one : found.stretches) {
    const Stretch span{one.begin_ns, one.end_ns, one.process, one.function};
    by_process[one.process].push_back(span);
    if (spans.size() < kMostStretches) spans.push_back(span);
  }
  LayerWriter writer(geometry, kWaitColumns, identity);
  const std::lock_guard writing(state.writing);
  if (const auto opened = writer.open(path); !opened) return opened;
  const auto line_of = [&](std::uint32_t process) -> std::optional<std::vector<Columns>> {
    if (state.stop) return std::nullopt;
    DominantBins waits(geometry), on_path(geometry);
    add_waits(job, process, waits);
    for (const Stretch& span : by_process[process]) on_path.add(span.begin_ns, span.end_ns, 0);
    waits.finish();
    on_path.finish();
    std::vector<Columns> levels(geometry.levels);
    for (std::uint32_t level = 0; level < geometry.levels; ++level) {
      const DominantBins::Level& of_waits = waits.levels()[level];
      levels[level] = {plus_one(of_waits.key), of_waits.total_ns, on_path.levels()[level].total_ns};
    }
    return levels;
  };
  if (!write_lines(writer, geometry, kWaitRules, threads, state, line_of)) {
    writer.abandon();
    return base::Error{"stopped"};
  }
  return writer.commit(pack_stretches(spans));
}

}  // namespace fathom::view
