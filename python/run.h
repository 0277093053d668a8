// SPDX-License-Identifier: BSD-3-Clause
// fathom._core.Run: a run directory and the part of it to analyse. Profile and trace are opened on first
// use.
//
// The times of calls are kept, because most figures are made from them. All functions are called
// with the interpreter's lock held. Passes over a trace release it, so two threads may count the same.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/load_run.h"
#include "analysis/time/counted_events.h"
#include "python/object_transport.h"
#include "trace/code/call_site_names.h"

namespace fathom::python {

class Run {
 public:
  Run(const std::string& path, const std::optional<std::set<std::int64_t>>& ranks,
      std::uint64_t from_ns, std::uint64_t to_ns, const std::optional<std::string>& phase,
      const pybind11::object& comm);

  bool has_trace() const { return has_trace_; }
  bool has_profile() const { return !profile_path_.empty(); }
  const analysis::Scope& scope() const { return scope_; }

  // Throws a Failure if there is none.
  const trace::Trace& trace();
  const analysis::LoadedRun& loaded();

  // The profile of the scope.
  const profile::Profile& profile() { return *loaded().profile; }
  // The same; with a choice of events, only the messages whose sends are chosen.
  const profile::Profile& counted_profile();

  // The joined steps of all processes, including the library's own messages if `hidden`. Collective
  // over the communicator, if there is one.
  const analysis::JoinedJob& joined(bool hidden);

  // From now on only chosen events count; none is chosen yet. Must come before anything is counted.
  void choose_none();
  // Chooses the events of a process with kept[index in its trace].
  void choose(std::uint32_t process, std::vector<bool> kept);

  // The events that figures over time count. Each process counts all of them by itself, so that an
  // operation never waits for other processes; each count has a SingleProcess of its own.
  analysis::CountedEvents counted(analysis::SingleProcess& alone) {
    return {trace(), alone, scope_, programs(), choice()};
  }
  // By process: its part between MPI_Init and MPI_Finalize. Each process finds all by itself.
  const std::vector<trace::Span>& programs();
  const analysis::EventChoice* choice() const { return choice_ ? &*choice_ : nullptr; }

  // The chosen processes as indices into the trace's definitions, ascending.
  std::vector<std::uint32_t> processes();

  // The name of a place in the program, "solve (solver.c:120)", as its number among site_names().
  // Opens the program's files when it meets a new place.
  std::int32_t site_number(std::uint32_t process, std::uint64_t address);
  const std::vector<std::string>& site_names() const { return site_names_; }
  // By the same number: what is known of the first place of that name.
  const std::vector<trace::CodeSite>& sites() const { return named_sites_; }

  // Times of the calls that count; counted once.
  const std::vector<analysis::CallRow>& calls();

 private:
  std::unique_ptr<ObjectTransport> transport_;
  analysis::SingleProcess alone_;
  analysis::Scope scope_;
  std::string directory_, profile_path_;
  bool has_trace_ = false;
  std::optional<trace::Trace> trace_;
  std::optional<analysis::LoadedRun> loaded_;
  std::unique_ptr<analysis::JoinedJob> joined_[2];  // without and with hidden messages
  std::optional<analysis::EventChoice> choice_;
  std::optional<profile::Profile> chosen_profile_;
  std::vector<trace::Span> programs_;
  std::optional<std::vector<analysis::CallRow>> calls_;
  std::unique_ptr<trace::CallSiteNames> places_;
  std::map<std::string, std::int32_t> site_numbers_;
  std::vector<std::string> site_names_;
  std::vector<trace::CodeSite> named_sites_;
};

}  // namespace fathom::python
