// SPDX-License-Identifier: BSD-3-Clause
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/atomic_file.h"
#include "base/json/writer.h"
#include "cli/commands/trace/trace.h"
#include "cli/language/command_line.h"
#include "cli/language/event_selection.h"
#include "cli/language/result_output.h"
#include "cli/terminal/units.h"
#include "trace/attributes.h"

namespace fathom::cli {
namespace {

using trace::Event;
using trace::EventKind;

// An event as pairs of name and value, the same for both output formats.
class Description {
 public:
  explicit Description(const trace::Definitions& definitions) : definitions_(definitions) {}

  // Calls take(name, value); the value is an integer or text.
  template <typename Take>
  void describe(const Event& event, Take&& take) const {
    switch (event.kind) {
      case EventKind::kEnter:
      case EventKind::kLeave: call(event, take); break;
      case EventKind::kMessageSent:
      case EventKind::kMessageReceived:
        take("class", definitions_.classes[event.code]);
        message(event, take);
        take("bytes", event.bytes);
        if (event.request != trace::kNoRequest) take("request", request(event.request));
        if (event.object != 0) take("operation", request(event.object));
        break;
      case EventKind::kUnexpected:
        take("queue", event.receiving ? "left" : "entered");
        message(event, take);
        break;
      case EventKind::kRequestGiven: take("request", request(event.request)); break;
      case EventKind::kMemberGiven: take("rank", event.peer); break;
      case EventKind::kRequestCompleted:
        take("request", request(event.request));
        if (event.flag == 1) take("cancelled", 1);
        break;
      case EventKind::kTransfer:
        take("step", step_name(event.code));
        take("side", event.receiving ? "receive" : "send");
        take("request", request(event.request));
        break;
      case EventKind::kPhaseBegin:
      case EventKind::kPhaseEnd: take("phase", definitions_.phases[event.code]); break;
      case EventKind::kPause: take("reason", pause_name(event.code)); break;
      case EventKind::kProcessor: take("processor", event.code); break;
      case EventKind::kLost:
        if (event.count == 0) {
          take("records", "unknown");
        } else {
          take("records", event.count);
        }
        break;
      case EventKind::kSampled:
        take("function", definitions_.functions[event.function].name);
        take("calls", event.count);
        take("nanoseconds", event.offset);
        break;
      case EventKind::kResume: break;
    }
  }

 private:
  static std::string request(std::uint64_t value) { return fmt::format("{:#x}", value); }

  static std::string special_rank(std::int32_t rank) {
    if (rank == trace::kAnySource) return "any";
    if (rank == trace::kNullProcess) return "null";
    return rank == trace::kNobody ? "unknown" : std::to_string(rank);
  }

  static const char* step_name(std::uint32_t step) {
    constexpr const char* kNames[] = {
        "",      "activate", "posted", "unposted", "matched-expected", "matched-unexpected",
        "begin", "continue", "end",    "complete"};
    return step < std::size(kNames) ? kNames[step] : "unknown";
  }

  static const char* pause_name(std::uint32_t reason) {
    constexpr const char* kNames[] = {"", "MPI_Pcontrol", "time window", "phase", "size cap"};
    return reason < std::size(kNames) ? kNames[reason] : "unknown";
  }

  template <typename Take>
  void message(const Event& event, Take&& take) const {
    take("comm", event.communicator);
    rank("peer", event.peer, take);
    take("tag", event.tag);
  }

  template <typename Take>
  static void rank(const char* name, std::int32_t value, Take&& take) {
    if (value < 0) {
      take(name, special_rank(value));
    } else {
      take(name, value);
    }
  }

  template <typename Take>
  void call(const Event& event, Take&& take) const {
    const trace::Function& function = definitions_.functions[event.function];
    const bool enters = event.kind == EventKind::kEnter;
    take("function", function.name);
    for (const trace::Attribute attribute : enters ? function.enter : function.leave) {
      value_of(event, attribute, take);
    }
    if (!enters && event.code != 0) take("error", event.code);
    if (event.site != 0) take("site", request(event.site));
  }

  template <typename Take>
  static void value_of(const Event& event, trace::Attribute attribute, Take&& take) {
    using trace::Attribute;
    const char* name = trace::name_of(attribute);
    switch (attribute) {
      case Attribute::kCommunicator: take(name, event.communicator); break;
      case Attribute::kPeer: rank(name, event.peer, take); break;
      case Attribute::kTag: take(name, event.tag); break;
      case Attribute::kBytes: take(name, event.bytes); break;
      case Attribute::kRoot: take(name, event.root); break;
      case Attribute::kPeer2: rank(name, event.peer2, take); break;
      case Attribute::kTag2: take(name, event.tag2); break;
      case Attribute::kBytes2: take(name, event.bytes2); break;
      case Attribute::kCount:
      case Attribute::kCompleted: take(name, event.count); break;
      case Attribute::kNewCommunicator: take(name, event.new_communicator); break;
      case Attribute::kFlag: take(name, event.flag); break;
      case Attribute::kLock: take(name, event.code); break;
      case Attribute::kRequest: take(name, request(event.request)); break;
      case Attribute::kWindow:
      case Attribute::kMessage:
      case Attribute::kFile: take(name, request(event.object)); break;
      case Attribute::kOffset: take(name, event.offset); break;
      case Attribute::kRequests:
      case Attribute::kMembers: break;  // these are separate events
    }
  }

  const trace::Definitions& definitions_;
};

void json_object(base::JsonWriter& json, const Description& description, const Event& event,
                 std::int64_t rank) {
  json.object([&] {
    json.field("time_ns", event.time_ns);
    json.field("rank", rank);
    json.field("thread", event.thread);
    json.field("kind", trace::name_of(event.kind));
    description.describe(event,
                         [&json](const char* name, const auto& value) { json.field(name, value); });
  });
  json.line_break();
}

std::string text_line(const Description& description, const Event& event, std::int64_t rank) {
  const std::string who =
      event.thread == 0 ? std::to_string(rank) : fmt::format("{}.{}", rank, event.thread);
  std::string line = fmt::format("{:>4}.{:09} {:>6}  {:<10}", event.time_ns / 1'000'000'000,
                                 event.time_ns % 1'000'000'000, who, trace::name_of(event.kind));
  description.describe(event, [&line](const char* name, const auto& value) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      line += fmt::format(" {}={}", name, value);
    } else {
      line += std::string_view(name) == "function" ? " " + printable(value)
                                                   : fmt::format(" {}={}", name, printable(value));
    }
  });
  return line + "\n";
}

// All chosen processes, merged by time. Each process is filtered before the merge, so that printing
// a few events of a large trace does not sort the rest.
class MergedEvents {
 public:
  MergedEvents(const trace::Trace& trace, const ChosenEvents& chosen) {
    for (const std::size_t process : chosen.processes) {
      sources_.push_back(
          {process, trace.events(process), trace::EventFilter(chosen.selection), {}});
      if (chosen.may_seek()) sources_.back().cursor.seek(chosen.selection.from_ns);
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) fetch(i, chosen.selection.to_ns);
    to_ns_ = chosen.selection.to_ns;
  }

  bool next(Event& event, std::size_t& process) {
    if (waiting_.empty()) return false;
    const std::size_t source = waiting_.top().second;
    waiting_.pop();
    event = sources_[source].event;
    process = sources_[source].process;
    fetch(source, to_ns_);
    return true;
  }

  std::vector<std::string> problems() const {
    std::vector<std::string> all;
    for (const Source& source : sources_) {
      all.insert(all.end(), source.cursor.problems().begin(), source.cursor.problems().end());
    }
    return all;
  }

 private:
  struct Source {
    std::size_t process;
    trace::EventCursor cursor;
    trace::EventFilter filter;
    Event event;
  };

  void fetch(std::size_t number, std::uint64_t to_ns) {
    Source& source = sources_[number];
    while (source.cursor.next(source.event) && source.event.time_ns < to_ns) {
      if (!source.filter.admits(source.event)) continue;
      waiting_.push({source.event.time_ns, number});
      return;
    }
  }

  using Waiting = std::pair<std::uint64_t, std::size_t>;  // time, source
  std::vector<Source> sources_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::uint64_t to_ns_ = 0;
};

struct PrintOptions {
  std::string run;
  EventChoice choice;
  ResultOutput output;
};

int print(const PrintOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "trace print", checked.error().message);
  const auto trace = trace::Trace::open(options.run);
  if (!trace) return fail(kFailed, "trace print", trace.error().message);
  const trace::Definitions& definitions = trace->definitions();
  const auto chosen = choose(options.choice, definitions);
  if (!chosen) return fail(kWrongUsage, "trace print", chosen.error().message);
  const Description description(definitions);
  MergedEvents events(*trace, *chosen);
  const bool to_file = !options.output.path.empty();
  base::AtomicFile file;
  if (to_file) {
    const auto opened = file.open(options.output.path, base::AtomicFile::Existing::kReplace);
    if (!opened) return fail(kFailed, "trace print", opened.error().message);
  }
  base::JsonWriter json = to_file ? base::JsonWriter(file) : base::JsonWriter(stdout);
  Event event;
  for (std::size_t process = 0; events.next(event, process);) {
    const std::int64_t rank = definitions.processes[process].rank;
    if (options.output.wants_json()) {
      json_object(json, description, event, rank);
    } else {
      const std::string line = text_line(description, event, rank);
      to_file ? file.append(line) : void(std::fwrite(line.data(), 1, line.size(), stdout));
    }
    if (std::ferror(stdout)) return kFailed;  // the reader is gone
  }
  json.finish();
  if (to_file) {
    const auto written = file.commit();
    if (!written) return fail(kFailed, "trace print", written.error().message);
  }
  for (const std::string& problem : events.problems()) fail(kFine, "trace print", problem);
  return kFine;
}

}  // namespace

Action declare_trace_print(CLI::App& app) {
  auto options = std::make_shared<PrintOptions>();
  app.add_option("RUN", options->run, "run directory with a trace")->required()->type_name("");
  add_window(app, options->choice.window);
  add_content_options(app, options->choice);
  add_result_output(app, options->output, "print one JSON object on each line");
  return [options] { return print(*options); };
}

}  // namespace fathom::cli
