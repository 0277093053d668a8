// SPDX-License-Identifier: BSD-3-Clause
#include "view/answers/machine.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include "analysis/pyrite/issues.h"
#include "base/text_lines.h"
#include "exporters/trace/pyrite.h"
#include "trace/attributes.h"

namespace fathom::view {
namespace {

using trace::Event;
using trace::EventKind;

struct Stand {  // where a rank stood
  std::size_t host = 0;
  std::int32_t socket = -1;
  std::string cores;
};

class Hosts {
 public:
  std::size_t number_of(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    return found->second;
  }
  std::vector<std::string> names;

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

std::int64_t highest_rank(const analysis::LoadedRun& run) {
  std::int64_t highest = -1;
  if (run.profile) {
    highest = run.profile->world_size - 1;
    for (const profile::Rank& rank : run.profile->ranks) highest = std::max(highest, rank.rank);
  }
  if (run.trace) {
    highest = std::max(highest, run.trace->definitions().world_size - 1);
    for (const trace::Process& process : run.trace->definitions().processes)
      highest = std::max(highest, process.rank);
  }
  return highest;
}

std::vector<Stand> stands_of(const analysis::LoadedRun& run, Hosts& hosts) {
  std::vector<Stand> stands(static_cast<std::size_t>(highest_rank(run) + 1));
  std::vector<bool> known(stands.size());
  const auto stand = [&](std::int64_t rank) -> Stand& {
    known[static_cast<std::size_t>(rank)] = true;
    return stands[static_cast<std::size_t>(rank)];
  };
  if (run.profile) {
    for (const profile::Rank& rank : run.profile->ranks) {
      if (rank.rank < 0) continue;
      stand(rank.rank).host = hosts.number_of(profile::shown_host(rank.host));
    }
  }
  if (run.trace) {
    for (const trace::Process& process : run.trace->definitions().processes) {
      if (process.rank < 0) continue;
      stand(process.rank) = {hosts.number_of(profile::shown_host(process.host)), process.socket,
                             process.affinity};
    }
  }
  for (std::size_t rank = 0; rank < stands.size(); ++rank) {
    if (!known[rank]) stands[rank].host = hosts.number_of(profile::shown_host(""));
  }
  return stands;
}

struct FlowKey {
  std::uint64_t bin_and_class = 0, pair = 0;
  bool operator==(const FlowKey&) const = default;
};
struct FlowHash {
  std::size_t operator()(const FlowKey& key) const {
    return std::hash<std::uint64_t>{}(key.pair * 0x9e3779b97f4a7c15u ^ key.bin_and_class);
  }
};
struct FlowRow {
  std::uint64_t bin = 0, message_class = 0;
  std::int64_t source = 0, destination = 0;
  std::uint64_t messages = 0, bytes = 0;
};

// Memory: four times what is written, however many pairs and bins there are. A row that was cut away and comes
// again begins anew.
class FlowRows {
 public:
  void add(std::uint64_t bin, std::uint64_t message_class, std::int64_t source,
           std::int64_t destination, std::uint64_t messages, std::uint64_t bytes) {
    const auto [found, is_new] =
        numbers_.try_emplace(key_of({bin, message_class, source, destination, 0, 0}), rows_.size());
    if (is_new) rows_.push_back({bin, message_class, source, destination, 0, 0});
    FlowRow& row = rows_[found->second];
    row.messages += messages;
    row.bytes += bytes;
    if (rows_.size() > 4 * kMostFlowRows) {
      cut();
      numbers_.clear();
      for (std::size_t at = 0; at < rows_.size(); ++at) numbers_[key_of(rows_[at])] = at;
    }
  }
  bool empty() const { return rows_.empty(); }

  void write(base::JsonWriter& json) {
    cut();
    std::sort(rows_.begin(), rows_.end(), [](const FlowRow& a, const FlowRow& b) {
      return std::tie(a.bin, a.source, a.destination, a.message_class) <
             std::tie(b.bin, b.source, b.destination, b.message_class);
    });
    const auto column = [&](const char* name, auto member) {
      json.list(name, rows_, [&](const FlowRow& row) { json.value(row.*member); });
    };
    json.object("flows", [&] {
      column("bin", &FlowRow::bin);
      column("source", &FlowRow::source);
      column("destination", &FlowRow::destination);
      column("class", &FlowRow::message_class);
      column("messages", &FlowRow::messages);
      column("bytes", &FlowRow::bytes);
    });
    json.field("left_out", left_out_);
  }

 private:
  static FlowKey key_of(const FlowRow& row) {
    return {row.bin << 32 | row.message_class, static_cast<std::uint64_t>(row.source) << 32 |
                                                   static_cast<std::uint32_t>(row.destination)};
  }

  void cut() {
    if (rows_.size() <= kMostFlowRows) return;
    left_out_ += rows_.size() - kMostFlowRows;
    std::nth_element(rows_.begin(), rows_.begin() + kMostFlowRows, rows_.end(),
                     [](const FlowRow& a, const FlowRow& b) { return a.messages > b.messages; });
    rows_.resize(kMostFlowRows);
  }

  std::size_t left_out_ = 0;
  std::unordered_map<FlowKey, std::size_t, FlowHash> numbers_;
  std::vector<FlowRow> rows_;
};

class Bins {
 public:
  explicit Bins(MachineWindow window)
      : window_(window), length_ns_(static_cast<double>(window.to_ns - window.from_ns)) {}
  std::size_t of(std::uint64_t time_ns) const {
    const double part = static_cast<double>(time_ns - window_.from_ns) / length_ns_;
    return std::min(static_cast<std::size_t>(part * static_cast<double>(window_.bins)),
                    window_.bins - 1);
  }
  std::uint64_t begin_ns(std::size_t bin) const {
    const double part = static_cast<double>(bin) / static_cast<double>(window_.bins);
    return window_.from_ns + static_cast<std::uint64_t>(part * length_ns_);
  }

 private:
  const MachineWindow window_;
  const double length_ns_;
};

struct Activity {
  std::vector<std::size_t> bin;
  std::vector<std::int64_t> rank;
  std::vector<std::uint32_t> function;
  std::vector<std::uint64_t> busy_ns;
};

// The outermost calls of the first thread, cut at the bins.
void add_activity(const CallsInWindow& calls, std::size_t process, std::int64_t rank,
                  MachineWindow window, Activity& activity) {
  const Bins bins(window);
  struct InBin {
    std::uint64_t all_ns = 0;
    std::unordered_map<std::uint32_t, std::uint64_t> by_function;
  };
  std::vector<InBin> found(window.bins);
  calls.for_each(process, window.from_ns, window.to_ns, [&](const SeenCall& call) {
    if (call.thread != 0 || call.depth != 0) return;
    const std::uint64_t begin = std::max(call.enter_ns, window.from_ns),
                        end = std::min(call.leave_ns, window.to_ns);
    if (end <= begin) return;
    for (std::size_t bin = bins.of(begin); bin < window.bins && bins.begin_ns(bin) < end; ++bin) {
      const std::uint64_t from = std::max(begin, bins.begin_ns(bin)),
                          to = std::min(end, bins.begin_ns(bin + 1));
      if (to <= from) continue;
      found[bin].all_ns += to - from;
      found[bin].by_function[call.function] += to - from;
    }
  });
  for (std::size_t bin = 0; bin < window.bins; ++bin) {
    if (found[bin].all_ns == 0) continue;
    const auto longest = std::max_element(
        found[bin].by_function.begin(), found[bin].by_function.end(),
        [](const auto& a, const auto& b) {
          return a.second < b.second || (a.second == b.second && a.first > b.first);
        });
    activity.bin.push_back(bin);
    activity.rank.push_back(rank);
    activity.function.push_back(longest->first);
    activity.busy_ns.push_back(found[bin].all_ns);
  }
}

void write_activity(const Activity& activity, base::JsonWriter& json) {
  std::vector<std::size_t> order(activity.bin.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return activity.bin[a] < activity.bin[b]; });
  const auto column = [&](const char* name, const auto& values) {
    json.list(name, order, [&](std::size_t at) { json.value(values[at]); });
  };
  json.object("activity", [&] {
    column("bin", activity.bin);
    column("rank", activity.rank);
    column("function", activity.function);
    column("busy_ns", activity.busy_ns);
  });
}

// Messages of the window, seen where they were received, or where they were sent.
void add_messages(const trace::Trace& trace, MachineWindow window, EventKind wanted,
                  FlowRows& rows) {
  const Bins bins(window);
  const auto& processes = trace.definitions().processes;
  for (std::size_t process = 0; process < processes.size(); ++process) {
    const std::int64_t rank = processes[process].rank;
    trace::EventCursor cursor = trace.events(process);
    cursor.seek(window.from_ns);
    for (Event event; cursor.next(event) && event.time_ns < window.to_ns;) {
      if (event.kind != wanted || event.peer < 0 || event.time_ns < window.from_ns) continue;
      const bool sent = wanted == EventKind::kMessageSent;
      rows.add(bins.of(event.time_ns), event.code, sent ? rank : event.peer,
               sent ? event.peer : rank, 1, event.bytes);
    }
  }
}

bool holds_receives(const trace::Trace& trace) {
  for (std::size_t process = 0; process < trace.definitions().processes.size(); ++process) {
    trace::EventCursor cursor = trace.events(process);
    for (Event event; cursor.next(event);) {
      if (event.kind == EventKind::kMessageReceived) return true;
    }
  }
  return false;
}

void write_classes(const analysis::LoadedRun& run, base::JsonWriter& json) {
  json.key("classes");
  json.open_list();
  const auto put = [&json](const std::string& name, bool hidden) {
    json.object([&] {
      json.field("name", name);
      json.field("hidden", hidden);
    });
  };
  if (run.trace) {
    const trace::Definitions& all = run.trace->definitions();
    for (std::size_t at = 0; at < all.classes.size(); ++at)
      put(all.classes[at], at < all.class_hidden.size() && all.class_hidden[at]);
  } else if (run.profile) {
    // The classes of the profile's blocks, one for each block: write_machine_traffic() numbers them so.
    for (const profile::Traffic& block : run.profile->traffic) put(block.class_name, block.hidden);
  }
  json.close_list();
}

}  // namespace

base::Result<std::string> machine_map(const std::string& run, const std::string& given) {
  std::error_code failed;
  const std::string path = given.empty() ? run + "/machine.json" : given;
  if (given.empty() && !std::filesystem::is_regular_file(path, failed)) return std::string();
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) return base::Error{"the map " + path + " cannot be read: " + failed.message()};
  if (size > kLargestMap) return base::Error{"the map " + path + " is larger than 16 MiB"};
  return base::read_text(path);
}

void write_machine(const analysis::LoadedRun& run, const base::Result<std::string>& map,
                   base::JsonWriter& json) {
  Hosts hosts;
  const std::vector<Stand> stands = stands_of(run, hosts);
  const profile::Profile* const profile = run.profile ? &*run.profile : nullptr;
  const profile::Application application = profile     ? profile->application
                                           : run.trace ? run.trace->definitions().application
                                                       : profile::Application{};
  json.field("program", application.executable);
  json.field("started_unix_ns", std::to_string(application.started_unix_ns));
  json.field("seconds", application.seconds);
  json.field("mpi", profile ? profile->mpi.library + " " + profile->mpi.version : "");
  json.field("source", profile ? profile->source : "");
  json.field("traced", run.trace != nullptr);
  std::uint64_t begin_ns = ~std::uint64_t{0},
                end_ns = static_cast<std::uint64_t>(application.seconds * 1e9);
  if (run.trace) {
    end_ns = 0;
    for (const trace::Process& process : run.trace->definitions().processes) {
      begin_ns = std::min(begin_ns, process.first_ns);
      end_ns = std::max(end_ns, process.last_ns + 1);  // ends of windows are exclusive
    }
  }
  json.field("begin_ns", run.trace ? std::min(begin_ns, end_ns) : 0);
  json.field("end_ns", end_ns);
  json.field("hosts", hosts.names);
  json.list("host", stands, [&](const Stand& stand) { json.value(stand.host); });
  json.list("socket", stands, [&](const Stand& stand) { json.value(stand.socket); });
  json.list("cores", stands, [&](const Stand& stand) { json.value(stand.cores); });
  write_classes(run, json);
  json.key("functions");
  json.open_list();
  if (run.trace) {
    for (const trace::Function& function : run.trace->definitions().functions) {
      json.object([&] {
        json.field("name", function.name);
        json.field("group", trace::name_of(function.group));
      });
    }
  }
  json.close_list();
  json.field("map_text", map ? *map : "");
  json.field("map_problem", map ? "" : map.error().message);
}

void write_machine_traffic(const analysis::LoadedRun& run, const CallsInWindow* calls,
                           MachineWindow window, base::JsonWriter& json) {
  FlowRows rows;
  Activity activity;
  window.to_ns = std::max(window.to_ns, window.from_ns + 1);
  if (run.trace && calls != nullptr) {
    const auto& processes = run.trace->definitions().processes;
    const std::size_t most =
        std::max<std::size_t>(1, kMostActivityRows / std::max<std::size_t>(1, processes.size()));
    window.bins = std::clamp<std::size_t>(window.bins, 1, most);
    add_messages(*run.trace, window, EventKind::kMessageReceived, rows);
    if (rows.empty() && !holds_receives(*run.trace))
      add_messages(*run.trace, window, EventKind::kMessageSent, rows);
    for (std::size_t process = 0; process < processes.size(); ++process)
      add_activity(*calls, process, processes[process].rank, window, activity);
  } else if (run.profile) {
    window.bins = 1;
    for (std::size_t at = 0; at < run.profile->traffic.size(); ++at) {
      const profile::Traffic& block = run.profile->traffic[at];
      for (std::size_t row = 0; row < block.source.size(); ++row)
        rows.add(0, at, block.source[row], block.destination[row], block.messages[row],
                 block.bytes[row]);
    }
  }
  json.field("from_ns", window.from_ns);
  json.field("to_ns", window.to_ns);
  json.field("bins", window.bins);
  rows.write(json);
  write_activity(activity, json);
}

void write_machine_sizes(const trace::Trace& trace, const CallsInWindow& calls,
                         std::uint64_t from_ns, std::uint64_t to_ns, base::JsonWriter& json) {
  const trace::Definitions& all = trace.definitions();
  const std::size_t bins = std::size(kSizeEdges);
  std::vector<std::vector<std::uint64_t>> counts(all.functions.size(),
                                                 std::vector<std::uint64_t>(bins));
  std::vector<std::uint64_t> unsized(all.functions.size());
  std::vector<bool> sized;
  for (const trace::Function& function : all.functions) {
    sized.push_back(std::find(function.enter.begin(), function.enter.end(),
                              trace::Attribute::kBytes) != function.enter.end());
  }
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    calls.for_each(process, from_ns, to_ns, [&](const SeenCall& call) {
      if (call.function >= counts.size()) return;
      if (!sized[call.function]) {
        ++unsized[call.function];
        return;
      }
      const auto* const above =
          std::upper_bound(std::begin(kSizeEdges), std::end(kSizeEdges), call.bytes);
      ++counts[call.function][static_cast<std::size_t>(above - std::begin(kSizeEdges)) - 1];
    });
  }
  json.list("edges", kSizeEdges, [&](std::uint64_t edge) { json.value(edge); });
  json.list("functions", all.functions,
            [&](const trace::Function& function) { json.value(function.name); });
  json.field("calls", counts);
  json.field("unsized", unsized);
}

base::Result<std::string> machine_cards(const analysis::Input& input) {
  if (input.trace == nullptr)
    return base::Error{"these cards need a trace: record one with fathom run --trace"};
  const auto report = analysis::issue_report(input);
  if (!report) return report.error();
  std::string text;
  base::JsonWriter json(text);
  exporters::write_pyrite_object(*report, input.trace->definitions(), json);
  json.finish();
  return text;
}

}  // namespace fathom::view
