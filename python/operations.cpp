// SPDX-License-Identifier: BSD-3-Clause
#include "python/operations.h"

#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/scope/trace_span.h"
#include "analysis/time/idle_time.h"
#include "analysis/time/load_imbalance.h"
#include "analysis/time/time_profile.h"
#include "python/arrays.h"
#include "python/failure.h"

namespace fathom::python {
namespace {

namespace py = pybind11;
using analysis::BinCounts;
using analysis::CallMetric;
using analysis::TimeBins;

CallMetric metric_of(const std::string& name) {
  if (name == "time.exc") return CallMetric::kExclusiveNs;
  if (name == "time.inc") return CallMetric::kInclusiveNs;
  if (name == "count") return CallMetric::kCount;
  throw py::value_error("there is no metric '" + name + "'; there are time.exc, time.inc, count");
}

// For each function that was called, MPI_Init and MPI_Finalize only if `start_and_end`, largest sum
// first: its number, the value of each process, mean,
// imbalance, and the indices of the `top` processes with the largest values.
py::dict balance_of(Run& run, const std::string& metric, std::size_t top, bool start_and_end) {
  const auto& calls = run.calls();
  std::vector<std::int32_t> functions;
  std::vector<double> values, mean, imbalance;
  py::list busiest;
  for (const auto& function : analysis::balance_of(calls, run.processes(), metric_of(metric))) {
    if (function.function == analysis::kProgram) continue;  // no function of the trace
    if (!start_and_end &&
        !analysis::is_between_init_and_finalize(run.trace().definitions(), function.function))
      continue;
    functions.push_back(static_cast<std::int32_t>(function.function));
    values.insert(values.end(), function.values.begin(), function.values.end());
    mean.push_back(function.mean());
    imbalance.push_back(function.imbalance());
    busiest.append(function.top(top));
  }
  py::dict made;
  made["function"] = as_array(std::move(functions));
  made["values"] = as_array(std::move(values));
  made["mean"] = as_array(std::move(mean));
  made["imbalance"] = as_array(std::move(imbalance));
  made["top"] = busiest;
  return made;
}

// Inclusive ns of each process in the functions with these names, and in all that can wait if
// `that_can_wait`.
py::array_t<double> idle_ns(Run& run, const std::set<std::string>& names, bool that_can_wait) {
  const trace::Definitions& definitions = run.trace().definitions();
  std::vector<bool> wanted(definitions.functions.size());
  if (that_can_wait) wanted = analysis::functions_that_can_wait(definitions);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = wanted[i] || names.contains(definitions.functions[i].name);
  const auto sums = analysis::time_in(run.calls(), run.processes(), wanted);
  return as_array(std::vector<double>(sums.begin(), sums.end()));
}

TimeBins equal_bins(Run& run, std::size_t count) {
  if (count == 0) throw py::value_error("there must be at least one bin");
  return {analysis::span_of(run.programs(), run.trace().definitions(), run.scope()), run.scope(),
          count};
}

py::array_t<double> edges_of(const TimeBins& bins) {
  return as_array(std::vector<double>(bins.edges().begin(), bins.edges().end()));
}

std::vector<double> as_doubles(const BinCounts& counts, std::size_t series) {
  const auto values = counts.of(series);
  return {values.begin(), values.end()};
}

// Counts the run's events with an analysis of the core, while other Python threads may run. `function`
// needs no GIL: a SingleProcess exchanges no Python objects.
BinCounts count(Run& run, const TimeBins& bins,
                base::Result<BinCounts> (*function)(const analysis::CountedEvents&,
                                                    const TimeBins&)) {
  analysis::SingleProcess alone;
  const analysis::CountedEvents events = run.counted(alone);
  const py::gil_scoped_release released;
  return value_or_throw(function(events, bins));
}

// The edges of equal bins, and the ns of each function in each bin, by its number. Functions without
// time are left out.
py::tuple time_by_bin(Run& run, std::size_t bin_count) {
  const TimeBins bins = equal_bins(run, bin_count);
  const BinCounts counts = count(run, bins, analysis::time_by_bin);
  py::dict functions;
  for (std::size_t i = 0; i < run.trace().definitions().functions.size(); ++i) {
    if (!counts.empty(i)) functions[py::int_(i)] = as_array(as_doubles(counts, i));
  }
  return py::make_tuple(edges_of(bins), functions);
}

// Bytes and messages in each bin, including the library's own.
py::tuple messages_in(Run& run, const TimeBins& bins, bool received) {
  const BinCounts counts = count(run, bins, analysis::messages_by_bin);
  std::vector<std::int64_t> bytes(bins.count()), messages(bins.count());
  for (const std::size_t first : {analysis::kSentBytes, analysis::kHiddenSentBytes}) {
    const std::size_t row = first + (received ? analysis::kReceivedBytes : analysis::kSentBytes);
    for (std::size_t bin = 0; bin < bins.count(); ++bin) {
      bytes[bin] += static_cast<std::int64_t>(counts.of(row)[bin]);
      messages[bin] += static_cast<std::int64_t>(counts.of(row + 1)[bin]);
    }
  }
  return py::make_tuple(as_array(std::move(bytes)), as_array(std::move(messages)), edges_of(bins));
}

py::tuple messages_by_bin(Run& run, std::size_t bin_count, bool received) {
  return messages_in(run, equal_bins(run, bin_count), received);
}

py::tuple messages_between(Run& run, std::vector<std::uint64_t> edges, bool received) {
  if (edges.size() < 2) throw py::value_error("bins need at least two edges");
  return messages_in(run, TimeBins(std::move(edges), run.scope()), received);
}

// Chooses events of a process by their indices in its trace.
void choose(Run& run, std::uint32_t process, const py::array_t<std::int64_t>& positions) {
  const auto chosen = positions.unchecked<1>();
  std::vector<bool> kept;
  for (py::ssize_t i = 0; i < chosen.size(); ++i) {
    if (chosen(i) < 0) continue;  // a Leave that ScopedEvents added
    const auto position = static_cast<std::size_t>(chosen(i));
    if (kept.size() <= position) kept.resize(position + 1);
    kept[position] = true;
  }
  run.choose(process, std::move(kept));
}

}  // namespace

void bind_operations(py::class_<Run>& run) {
  run.def("choose_none", &Run::choose_none)
      .def("choose", &choose)
      .def("balance", &balance_of)
      .def("idle_ns", &idle_ns)
      .def("time_by_bin", &time_by_bin)
      .def("messages_by_bin", &messages_by_bin)
      .def("messages_between", &messages_between)
      .def("time_edges",
           [](Run& run, std::size_t bins) { return edges_of(equal_bins(run, bins)); });
}

}  // namespace fathom::python
