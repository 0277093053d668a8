// SPDX-License-Identifier: BSD-3-Clause
// The extension fathom._core: runs, their traffic, columns of their events, and the analyses.
// python/fathom/ wraps it as the package that users import.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "analysis/compare.h"
#include "analysis/registry.h"
#include "analysis/run.h"
#include "base/launcher.h"
#include "base/program_name.h"
#include "base/version.h"
#include "profile/summary.h"
#include "python/arrays.h"
#include "python/engine.h"
#include "python/event_columns.h"
#include "python/failure.h"
#include "python/joined_columns.h"
#include "python/operations.h"
#include "python/results.h"
#include "python/run.h"
#include "python/step_fields.h"
#include "trace/event_filter.h"

namespace fathom::python {
namespace {

namespace py = pybind11;

analysis::Thresholds thresholds_of(const std::vector<std::string>& assignments) {
  analysis::Thresholds thresholds;
  for (const std::string& assignment : assignments)
    value_or_throw(analysis::set_threshold(thresholds, assignment));
  return thresholds;
}

// Numbers names in order of appearance, for categories.
class Codes {
 public:
  std::int32_t of(const std::string& name) {
    const auto [entry, is_new] = codes_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, std::int32_t> codes_;
  std::vector<std::string> names_;
};

py::dict header_of(Run& run) {
  const profile::Profile& profile = run.profile();
  py::dict made;
  made["application"] =
      base::program_path(profile.application.executable, profile.application.arguments);
  made["seconds"] = profile.application.seconds;
  made["world_size"] = profile.world_size;
  made["ranks"] = profile::rank_count(profile);
  made["source"] = profile.source;
  made["verdict"] = profile.coverage.verdict;
  py::dict hosts;
  for (const profile::Rank& rank : profile.ranks)
    hosts[py::int_(rank.rank)] = profile::shown_host(rank.host);
  made["hosts"] = hosts;
  py::list communicators;
  for (const profile::Communicator& entry : profile.communicators) {
    py::dict row;
    row["id"] = entry.id;
    row["name"] = entry.name;
    row["made_by"] = entry.made_by;
    row["size"] = entry.world_ranks.size();
    communicators.append(row);
  }
  made["communicators"] = communicators;
  return made;
}

py::dict traffic_of(Run& run) {
  Codes classes, phases;
  std::vector<std::int32_t> class_code, phase_code;
  std::vector<std::uint8_t> hidden;
  std::vector<std::int64_t> communicator, source, destination;
  std::vector<std::uint64_t> bytes, messages;
  const auto append = [](auto& all, const auto& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  for (const profile::Traffic& block : run.counted_profile().traffic) {
    const std::size_t end = source.size() + block.source.size();
    append(source, block.source);
    append(destination, block.destination);
    append(bytes, block.bytes);
    append(messages, block.messages);
    class_code.resize(end, classes.of(block.class_name));
    phase_code.resize(end, phases.of(block.phase));
    hidden.resize(end, block.hidden);
    communicator.resize(end, block.communicator);
  }
  py::dict made;
  made["class"] = py::make_tuple(as_array(std::move(class_code)), classes.names());
  made["phase"] = py::make_tuple(as_array(std::move(phase_code)), phases.names());
  made["hidden"] = as_array(std::move(hidden));
  made["communicator"] = as_array(std::move(communicator));
  made["source"] = as_array(std::move(source));
  made["destination"] = as_array(std::move(destination));
  made["bytes"] = as_array(std::move(bytes));
  made["messages"] = as_array(std::move(messages));
  return made;
}

py::list message_sizes_of(Run& run) {
  py::list made;
  for (const profile::MessageSizes& sizes : run.counted_profile().message_sizes) {
    py::dict row;
    row["class"] = sizes.class_name;
    row["hidden"] = sizes.hidden;
    row["size"] = as_array(std::vector(sizes.size));
    row["messages"] = as_array(std::vector(sizes.messages));
    row["bin_low"] = as_array(std::vector(sizes.bin_low));
    row["bin_messages"] = as_array(std::vector(sizes.bin_messages));
    made.append(row);
  }
  return made;
}

py::dict definitions_of(Run& run) {
  const trace::Definitions& definitions = run.trace().definitions();
  py::list names, processes;
  for (const trace::Function& function : definitions.functions) names.append(function.name);
  py::list kinds;
  for (int kind = 0; kind <= static_cast<int>(trace::kLastEventKind); ++kind) {
    kinds.append(trace::name_of(static_cast<trace::EventKind>(kind)));
  }
  const analysis::Scope& scope = run.scope();
  for (std::size_t i = 0; i < definitions.processes.size(); ++i) {
    const trace::Process& process = definitions.processes[i];
    if (scope.ranks && !scope.ranks->contains(process.rank)) continue;
    py::dict row;
    row["process"] = i;
    row["rank"] = process.rank;
    row["host"] = profile::shown_host(process.host);
    row["first_ns"] = process.first_ns;
    row["last_ns"] = process.last_ns;
    row["records"] = process.records;
    row["lost"] = process.lost_records;
    processes.append(row);
  }
  py::dict made;
  made["functions"] = names;
  made["kinds"] = kinds;
  made["classes"] = definitions.classes;
  made["class_hidden"] = definitions.class_hidden;
  made["processes"] = processes;
  return made;
}

// Numbers of places among those of the run, from numbers among those of the columns.
template <typename Columns>
void number_sites(Run& run, Columns& columns) {
  std::vector<std::int32_t> numbers;
  for (const CallSite& site : columns.sites)
    numbers.push_back(run.site_number(site.process, site.address));
  for (std::int32_t& site : columns.site) {
    if (site >= 0) site = numbers[static_cast<std::size_t>(site)];
  }
}

py::dict columns_of(Run& run, EventColumns&& columns) {
  number_sites(run, columns);
  py::dict made;
  made["site"] = as_array(std::move(columns.site));
  made["time_ns"] = as_array(std::move(columns.time_ns));
  made["type"] = as_array(std::move(columns.type));
  made["name"] = as_array(std::move(columns.name));
  made["process"] = as_array(std::move(columns.process));
  made["thread"] = as_array(std::move(columns.thread));
  made["matching"] = as_array(std::move(columns.matching));
  made["matching_time_ns"] = as_array(std::move(columns.matching_time_ns));
  made["depth"] = as_array(std::move(columns.depth));
  made["parent"] = as_array(std::move(columns.parent));
  made["inclusive_ns"] = as_array(std::move(columns.inclusive_ns));
  made["exclusive_ns"] = as_array(std::move(columns.exclusive_ns));
  made["peer"] = as_array(std::move(columns.peer));
  made["tag"] = as_array(std::move(columns.tag));
  made["communicator"] = as_array(std::move(columns.communicator));
  made["root"] = as_array(std::move(columns.root));
  made["bytes"] = as_array(std::move(columns.bytes));
  made["request"] = as_array(std::move(columns.request));
  made["class"] = as_array(std::move(columns.message_class));
  if (!columns.position.empty()) made["position"] = as_array(std::move(columns.position));
  return made;
}

py::dict columns_of(Run& run, CallColumns&& columns) {
  number_sites(run, columns);
  py::dict made;
  made["site"] = as_array(std::move(columns.site));
  made["name"] = as_array(std::move(columns.name));
  made["thread"] = as_array(std::move(columns.thread));
  made["depth"] = as_array(std::move(columns.depth));
  made["start_ns"] = as_array(std::move(columns.start_ns));
  made["end_ns"] = as_array(std::move(columns.end_ns));
  made["exclusive_ns"] = as_array(std::move(columns.exclusive_ns));
  return made;
}

// What is known of the places named so far, by their numbers.
py::dict sites_of(Run& run) {
  py::list function, file, module;
  std::vector<std::int64_t> line;
  std::vector<std::uint64_t> offset;
  for (const trace::CodeSite& site : run.sites()) {
    function.append(site.function);
    file.append(site.file);
    line.push_back(site.line);
    module.append(site.module);
    offset.push_back(site.offset);
  }
  py::dict made;
  made["function"] = function;
  made["file"] = file;
  made["line"] = as_array(std::move(line));
  made["module"] = module;
  made["offset"] = as_array(std::move(offset));
  return made;
}

// Reads one process of a run, which outlives this.
struct RunReader {
  Run& run;
  ColumnReader columns;
};

// None at the end. Other Python threads run while columns are built.
py::object next_events(RunReader& reader, std::size_t most, std::int32_t process,
                       bool with_positions) {
  EventColumns columns;
  columns.with_positions = with_positions;
  {
    const py::gil_scoped_release released;
    reader.columns.events(most, process, columns);
  }
  if (columns.size() == 0) return py::none();
  return columns_of(reader.run, std::move(columns));
}

// All events of the processes in the scope, one process after the other.
py::dict all_events(Run& run) {
  const trace::Trace& trace = run.trace();
  const analysis::Scope& scope = run.scope();
  EventColumns columns;
  {
    const py::gil_scoped_release released;
    const auto& processes = trace.definitions().processes;
    const auto wanted = [&](const trace::Process& process) {
      return !scope.ranks || scope.ranks->contains(process.rank);
    };
    // Reserved at once, because columns that grow step by step would be copied several times.
    std::size_t rows = 0;
    for (const trace::Process& process : processes)
      rows += wanted(process) && scope.whole_time() && !scope.phases ? process.records : 0;
    columns.reserve(rows);
    std::int32_t position = 0;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      if (wanted(processes[i]))
        ColumnReader(trace, i, scope).events(~std::size_t{0}, position++, columns);
    }
  }
  return columns_of(run, std::move(columns));
}

py::object next_calls(RunReader& reader, std::size_t most) {
  CallColumns columns;
  bool more = false;
  {
    const py::gil_scoped_release released;
    more = reader.columns.calls(most, columns);
  }
  if (!more) return py::none();
  return columns_of(reader.run, std::move(columns));
}

std::unique_ptr<RunReader> reader_of(Run& run, std::size_t process) {
  const trace::Trace& trace = run.trace();
  if (process >= trace.definitions().processes.size())
    throw Failure("the trace has no such process");
  return std::unique_ptr<RunReader>(new RunReader{run, ColumnReader(trace, process, run.scope())});
}

py::dict joined_messages(Run& run, bool hidden) {
  MessageColumns columns = messages_of(run.joined(hidden));
  py::dict made;
  made["source"] = as_array(std::move(columns.sender));
  made["destination"] = as_array(std::move(columns.receiver));
  made["send_entered_ns"] = as_array(std::move(columns.send_entered_ns));
  made["received_ns"] = as_array(std::move(columns.received_ns));
  made["receive_posted_ns"] = as_array(std::move(columns.receive_posted_ns));
  made["bytes"] = as_array(std::move(columns.bytes));
  made["tag"] = as_array(std::move(columns.tag));
  made["communicator"] = as_array(std::move(columns.communicator));
  made["hidden"] = as_array(std::move(columns.hidden));
  made["source_step"] = as_array(std::move(columns.sender_step));
  made["destination_step"] = as_array(std::move(columns.receiver_step));
  return made;
}

std::unique_ptr<analysis::CausalOrder> replay_of(Run& run, bool backward, bool hidden) {
  return std::make_unique<analysis::CausalOrder>(
      run.joined(hidden),
      backward ? analysis::Direction::kBackward : analysis::Direction::kForward);
}

py::object moments_of(analysis::CausalOrder& order, std::uint32_t wanted, std::size_t most) {
  MomentColumns columns;
  {
    const py::gil_scoped_release released;
    columns = next_moments(order, wanted, most);
  }
  if (columns.step.empty()) return py::none();
  return py::make_tuple(as_array(std::move(columns.moment)), as_array(std::move(columns.process)),
                        as_array(std::move(columns.step)), as_array(std::move(columns.time_ns)));
}

py::tuple step_of(Run& run, std::uint32_t process, std::uint32_t number, bool hidden) {
  const analysis::JoinedJob& job = run.joined(hidden);
  if (process >= job.definitions().processes.size() || number >= job.steps().size(process)) {
    throw Failure("this analysis process has no such step");
  }
  return step_fields(job.definitions(), process, number, job.steps().at(process, number));
}

std::vector<std::uint32_t> own_processes(Run& run, bool hidden) { return run.joined(hidden).own(); }

// The rows of the profile's calls.
py::dict call_times_of(Run& run) {
  const profile::Profile& profile = run.profile();
  std::map<std::int64_t, const profile::CallSite*> sites;
  for (const profile::CallSite& site : profile.call_sites) sites[site.id] = &site;
  Codes mpi_functions, phases, functions, files, modules;
  std::vector<std::int32_t> mpi_function, phase, function, file, module;
  std::vector<std::int64_t> rank, communicator, line;
  std::vector<std::uint64_t> calls, total_ns, shortest_ns, longest_ns, bytes, estimated, offset;
  const auto append = [](auto& all, const auto& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  for (const profile::CallTimes& block : profile.calls) {
    const profile::CallSite& site = *sites.at(block.site);
    append(rank, block.rank);
    append(calls, block.calls);
    append(total_ns, block.total_ns);
    append(shortest_ns, block.shortest_ns);
    append(longest_ns, block.longest_ns);
    append(bytes, block.bytes);
    append(estimated, block.estimated);
    estimated.resize(rank.size());
    mpi_function.resize(rank.size(), mpi_functions.of(block.function));
    phase.resize(rank.size(), phases.of(block.phase));
    communicator.resize(rank.size(), block.communicator);
    function.resize(rank.size(), functions.of(site.function));
    file.resize(rank.size(), files.of(site.file));
    line.resize(rank.size(), site.line);
    module.resize(rank.size(), modules.of(site.module));
    offset.resize(rank.size(), site.offset);
  }
  py::dict made;
  const auto category = [&made](const char* name, std::vector<std::int32_t>& codes,
                                const Codes& names) {
    made[name] = py::make_tuple(as_array(std::move(codes)), names.names());
  };
  made["rank"] = as_array(std::move(rank));
  category("mpi_function", mpi_function, mpi_functions);
  made["communicator"] = as_array(std::move(communicator));
  category("phase", phase, phases);
  made["calls"] = as_array(std::move(calls));
  made["total_ns"] = as_array(std::move(total_ns));
  made["shortest_ns"] = as_array(std::move(shortest_ns));
  made["longest_ns"] = as_array(std::move(longest_ns));
  made["bytes"] = as_array(std::move(bytes));
  made["estimated"] = as_array(std::move(estimated));
  category("function", function, functions);
  category("file", file, files);
  made["line"] = as_array(std::move(line));
  category("module", module, modules);
  made["offset"] = as_array(std::move(offset));
  return made;
}

// {rank: seconds} of the chosen ranks of the job's own world that left counts.
std::map<std::int64_t, double> seconds_of_ranks(Run& run) {
  std::map<std::int64_t, double> seconds;
  for (const profile::Rank& rank : run.profile().ranks) {
    const bool chosen = !run.scope().ranks || run.scope().ranks->contains(rank.rank);
    if (chosen && rank.reported && rank.world.empty()) seconds[rank.rank] = rank.seconds;
  }
  return seconds;
}

py::list analyses() {
  py::list made;
  for (const analysis::Row& row : analysis::all_analyses()) {
    made.append(
        py::make_tuple(row.name, row.help, row.needs == analysis::Needs::kTrace, row.by_default));
  }
  return made;
}

// {name: section} of the named analyses, or of the default set; findings; limits.
// `changes`: of what-if, as --what-if takes them.
py::dict analyze(Run& run, const std::vector<std::string>& names,
                 const std::vector<std::string>& assignments,
                 const std::vector<std::string>& changes) {
  analysis::Input input = run.loaded().input(thresholds_of(assignments));
  for (const std::string& change : changes)
    input.changes.push_back(value_or_throw(analysis::parse_supposed_change(change)));
  std::vector<const analysis::Row*> rows;
  for (const std::string& name : names)
    rows.push_back(value_or_throw(analysis::find_analysis(name)));
  for (const analysis::Row* row : rows) {
    if (!analysis::can_run(*row, input)) throw Failure(analysis::what_is_missing(*row, input));
  }
  if (names.empty()) rows = analysis::default_analyses(input);
  std::optional<analysis::Results> results;
  {
    const py::gil_scoped_release released;
    results = value_or_throw(analysis::run_analyses(rows, input));
  }
  py::dict sections, made;
  for (analysis::NamedSection& named : results->sections) {
    sections[py::str(named.name)] = as_dict(std::move(named.section));
  }
  made["sections"] = sections;
  made["findings"] = as_list(results->findings);
  made["limits"] = results->limits;
  return made;
}

// The last `repeats` runs are compared with all before them; 0: each run with the first.
py::dict compare(const std::vector<Run*>& runs, const std::vector<std::string>& names,
                 std::size_t repeats) {
  std::vector<const profile::Profile*> profiles;
  for (Run* run : runs) profiles.push_back(&run->profile());
  analysis::Comparison comparison = value_or_throw(analysis::compare_profiles(
      profiles, names,
      repeats == 0 ? analysis::Sides{} : analysis::Sides{runs.size() - repeats, repeats}));
  analysis::compare_calls(profiles, comparison);
  return as_dict(analysis::lay_out(comparison));
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.attr("version") = base::kVersion;
  py::register_exception<Failure>(module, "Error", PyExc_RuntimeError);
  py::class_<Run> run(module, "Run");
  run.def(py::init<const std::string&, const std::optional<std::set<std::int64_t>>&, std::uint64_t,
                   std::uint64_t, const std::optional<std::string>&, const py::object&>())
      .def_property_readonly("has_trace", &Run::has_trace)
      .def_property_readonly("has_profile", &Run::has_profile)
      .def("header", &header_of)
      .def("traffic", &traffic_of)
      .def("message_sizes", &message_sizes_of)
      .def("call_times", &call_times_of)
      .def("knows_waits", [](Run& run) { return run.profile().coverage.waits.has_value(); })
      .def("seconds_of_ranks", &seconds_of_ranks)
      .def("definitions", &definitions_of)
      .def("events", &all_events)
      .def("reader", &reader_of, py::keep_alive<0, 1>())
      .def("site_names", &Run::site_names)
      .def("sites", &sites_of)
      .def("phases", [](Run& run) { return run.trace().definitions().phases; })
      .def("messages", &joined_messages)
      .def("replay", &replay_of, py::keep_alive<0, 1>())
      .def("step", &step_of)
      .def("own_processes", &own_processes)
      .def("analyze", &analyze);
  bind_operations(run);
  py::class_<analysis::CausalOrder>(module, "Replay").def("moments", &moments_of);
  py::class_<RunReader>(module, "RunReader")
      .def("events", &next_events, py::arg("most"), py::arg("process"),
           py::arg("with_positions") = false)
      .def("calls", &next_calls);
  bind_engine(module);
  module.def("is_launched", [] { return base::launched_rank().has_value(); });
  module.def("analyses", &analyses);
  module.def("compare", &compare);
}

}  // namespace fathom::python
