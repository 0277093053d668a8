// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/speedscope.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "base/version.h"
#include "exporters/common/text_file.h"
#include "exporters/trace/sorted_lines.h"
#include "trace/code/call_site_names.h"

namespace fathom::exporters {
namespace {

using base::json_string;
using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Place;

// The frames of all profiles, which the file lists once.
class Frames {
 public:
  std::size_t function(const trace::Definitions& all, std::uint32_t number) {
    const bool known = number < all.functions.size();
    return named(known ? all.functions[number].name : "unknown function");
  }
  std::size_t phase(const trace::Definitions& all, std::uint32_t number) {
    return named("phase " + (number < all.phases.size() ? all.phases[number] : "unknown"));
  }
  std::size_t site(const trace::CodeSite& site) {
    if (site.file.empty()) return named(trace::describe(site));
    return number_of("{\"name\":" + json_string(trace::describe(site)) + ",\"file\":" +
                     json_string(site.file) + ",\"line\":" + std::to_string(site.line) + "}");
  }

  void write(TextFile& file) const {
    std::vector<const std::string*> ordered(numbers_.size());
    for (const auto& [text, number] : numbers_) ordered[number] = &text;
    for (std::size_t number = 0; number < ordered.size(); ++number)
      file << (number ? ",\n" : "\n") << *ordered[number];
  }

 private:
  std::size_t named(const std::string& name) {
    return number_of("{\"name\":" + json_string(name) + "}");
  }
  std::size_t number_of(const std::string& object) {
    return numbers_.try_emplace(object, numbers_.size()).first->second;
  }

  std::map<std::string, std::size_t> numbers_;  // by their JSON
};

struct Span {
  std::uint64_t first_ns = 0, last_ns = 0;
};

Span span_of(const trace::Definitions& definitions) {
  Span span;
  bool is_first = true;
  for (const trace::Process& process : definitions.processes) {
    if (process.records == 0) continue;
    span.first_ns = is_first ? process.first_ns : std::min(span.first_ns, process.first_ns);
    span.last_ns = std::max(span.last_ns, process.last_ns);
    is_first = false;
  }
  return span;
}

// The stacks of one process. Its threads come mixed, but their profiles are written one after the
// other, so lines are sorted by thread: head, events, tail.
class SpeedscopeVisitor : public trace::Visitor {
 public:
  SpeedscopeVisitor(const trace::Definitions& definitions, std::size_t process, Span span,
                    trace::CallSiteNames& sites, Frames& frames)
      : all_(definitions),
        process_(definitions.processes[process]),
        span_(span),
        sites_(sites),
        frames_(frames) {}

  void enter(const Place& place, const Call& call) override {
    const std::uint64_t time_ns = call.enter.time_ns;
    // Inside another call the site would be a place in the MPI library.
    if (call.depth == 0 && call.enter.site != 0)
      open(place, time_ns, site_frame(place, call.enter.site));
    open(place, time_ns, function_frame(call.enter.function));
  }

  void leave(const Place& place, const Call& call) override {
    const std::uint64_t time_ns = call.leave.time_ns;
    close(place, time_ns, function_frame(call.enter.function));
    if (call.depth == 0 && call.enter.site != 0)
      close(place, time_ns, site_frame(place, call.enter.site));
  }

  void other(const Place& place, const Event& event) override {
    if (event.kind == EventKind::kPhaseBegin)
      open(place, event.time_ns, frames_.phase(all_, event.code));
    if (event.kind == EventKind::kPhaseEnd)
      close(place, event.time_ns, frames_.phase(all_, event.code));
  }

  // `is_first`: whether the file has no profile yet.
  base::Status write(TextFile& file, bool is_first) {
    if (threads_.empty()) threads_[0];  // a process that called nothing has a profile too
    for (auto& [thread, state] : threads_) {
      while (!state.open.empty()) end_top(thread, state, std::max(state.last_ns, last_offset()));
      const std::string name = thread < process_.threads.size() && !process_.threads[thread].empty()
                                   ? process_.threads[thread]
                                   : "thread " + std::to_string(thread);
      const std::string title =
          process_name(process_) + (threads_.size() > 1 ? ", " + name : std::string());
      lines_.add(key(thread, 0), std::string(is_first ? "" : ",") +
                                     "\n{\"type\":\"evented\",\"name\":" + json_string(title) +
                                     ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":" +
                                     std::to_string(std::max(last_offset(), state.last_ns)) +
                                     ",\"events\":[");
      lines_.add(key(thread, 2), "]}");
      is_first = false;
    }
    return lines_.write(file);
  }

 private:
  struct Thread {
    std::vector<std::size_t> open;  // frames
    std::uint64_t last_ns = 0;      // since the span began
    bool has_events = false;
  };

  static std::uint64_t key(std::uint32_t thread, unsigned part) {
    return std::uint64_t{thread} * 3 + part;
  }

  std::uint64_t last_offset() const { return span_.last_ns - span_.first_ns; }

  // Numbers are remembered, because millions of events repeat them.
  std::size_t function_frame(std::uint32_t function) {
    const auto [entry, is_new] = function_frames_.try_emplace(function);
    if (is_new) entry->second = frames_.function(all_, function);
    return entry->second;
  }

  std::size_t site_frame(const Place& place, std::uint64_t address) {
    const auto [entry, is_new] = site_frames_.try_emplace(address);
    if (is_new) entry->second = frames_.site(sites_.of_call(place.process, address));
    return entry->second;
  }

  void line(std::uint32_t thread, Thread& state, char type, std::size_t frame,
            std::uint64_t time_ns) {
    state.last_ns = std::max(state.last_ns, time_ns);
    text_.assign(state.has_events ? ",\n{\"type\":\"" : "\n{\"type\":\"");
    text_.append(1, type).append("\",\"frame\":").append(std::to_string(frame));
    text_.append(",\"at\":").append(std::to_string(state.last_ns)).append("}");
    lines_.add(key(thread, 1), text_);
    state.has_events = true;
  }

  std::uint64_t offset(std::uint64_t time_ns) const {
    return time_ns - std::min(time_ns, span_.first_ns);
  }

  void open(const Place& place, std::uint64_t time_ns, std::size_t frame) {
    Thread& state = threads_[place.thread];
    state.open.push_back(frame);
    line(place.thread, state, 'O', frame, offset(time_ns));
  }

  void end_top(std::uint32_t thread, Thread& state, std::uint64_t time_ns) {
    line(thread, state, 'C', state.open.back(), time_ns);
    state.open.pop_back();
  }

  void close(const Place& place, std::uint64_t time_ns, std::size_t frame) {
    Thread& state = threads_[place.thread];
    if (std::ranges::find(state.open, frame) == state.open.end()) return;
    while (state.open.back() != frame) end_top(place.thread, state, offset(time_ns));
    end_top(place.thread, state, offset(time_ns));
  }

  const trace::Definitions& all_;
  const trace::Process& process_;
  Span span_;
  trace::CallSiteNames& sites_;
  Frames& frames_;
  std::unordered_map<std::uint64_t, std::size_t> site_frames_;  // by address in this process
  std::unordered_map<std::uint32_t, std::size_t> function_frames_;
  std::map<std::uint32_t, Thread> threads_;
  SortedLines lines_;
  std::string text_;
};

}  // namespace

base::Status export_speedscope(const trace::Trace& trace, const TraceOptions& options,
                               const std::string& path, Notes& notes) {
  const trace::Definitions& all = trace.definitions();
  TextFile file;
  if (const auto opened = file.open(path, options.force); !opened) return opened;
  file << "{\"$schema\":\"https://www.speedscope.app/"
          "file-format-schema.json\",\"exporter\":\"fathom@"
       << base::kVersion << "\",\"name\":" << json_string(all.application.executable)
       << ",\"activeProfileIndex\":0,\"profiles\":[";
  trace::CallSiteNames sites(all);
  Frames frames;
  const Span span = span_of(all);
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    SpeedscopeVisitor visitor(all, process, span, sites, frames);
    note(trace::walk_process(trace, process, visitor), notes);
    if (const auto written = visitor.write(file, process == 0); !written) return written;
  }
  file << "],\n\"shared\":{\"frames\":[";
  frames.write(file);
  file << "]}}\n";
  note_loss(all, notes);
  notes.push_back("speedscope's format has stacks of calls only; messages were left out");
  return file.commit();
}

}  // namespace fathom::exporters
