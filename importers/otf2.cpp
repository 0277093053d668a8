// SPDX-License-Identifier: BSD-3-Clause
#include "importers/otf2.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/seconds.h"
#include "base/text.h"
#include "importers/importer.h"
#include "importers/otf2_definitions.h"
#include "importers/otf2_location.h"
#include "importers/otf2_plan.h"
#include "trace/join/clock_comparison.h"
#include "trace/otf2/errors.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace fathom::importers {
namespace otf2 {
namespace {

class Import {
 public:
  explicit Import(const std::string& path) : path_(path) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
      if (entry.path().extension() == ".otf2") path_ = entry.path().string();
    }
  }
  ~Import() {
    if (reader_) OTF2_Reader_Close(reader_);
  }

  // `clocks`: by process; empty to leave times as they are. `lead_ns`: as in Plan.
  base::Status run(const std::string& run_directory, std::uint64_t lead_ns,
                   std::vector<trace::ClockOffset> clocks, Notes& notes) {
    trace::Otf2Errors::listen();
    reader_ = OTF2_Reader_Open(path_.c_str());
    if (!reader_ || OTF2_Reader_SetSerialCollectiveCallbacks(reader_) != OTF2_SUCCESS)
      return error();
    properties();
    if (!read_definitions(reader_, archive_)) return error();
    auto plan = plan_import(archive_, properties_);
    if (!plan) return base::Error{"'" + path_ + "' cannot be imported: " + plan.error().message};
    is_own_ = plan->own;
    plan->lead_ns = lead_ns;
    plan->definitions.epoch_unix_ns -= std::min(lead_ns, plan->definitions.epoch_unix_ns);
    plan->clocks = std::move(clocks);
    for (std::size_t i = 0; i < plan->clocks.size(); ++i) {
      trace::ClockSummary& clock = plan->definitions.processes[i].clock;
      clock.own = true;
      clock.bounded = plan->clocks[i].bounded;
      clock.uncertainty_ns = plan->clocks[i].uncertainty_ns;
    }
    auto writer = trace::TraceWriter::create(run_directory, plan->definitions);
    if (!writer) return writer.error();
    if (!events(*plan, *writer)) {
      notes.push_back("'" + path_ + "' is damaged; what could be read was imported (" +
                      trace::Otf2Errors::last() + ")");
    }
    if (plan->other_regions > 0 && !plan->own) {
      notes.push_back(std::to_string(plan->other_regions) +
                      " regions are not MPI functions; a Fathom trace holds MPI calls only, and "
                      "they were left out");
    }
    if (unknown_comms_ > 0) {
      notes.push_back(std::to_string(unknown_comms_) +
                      " messages on communicators that are not defined were left out");
    }
    return writer->finish();
  }

  // After run():
  bool is_own() const { return is_own_; }               // Fathom wrote the archive
  std::uint64_t early_ns() const { return early_ns_; }  // how much more lead the events need

 private:
  base::Error error() const {
    return {"'" + path_ + "' cannot be read as an OTF2 archive: " + trace::Otf2Errors::last()};
  }

  void properties() {
    std::uint32_t count = 0;
    char** names = nullptr;
    if (OTF2_Reader_GetPropertyNames(reader_, &count, &names) != OTF2_SUCCESS) return;
    for (std::uint32_t index = 0; index < count; ++index) {
      char* value = nullptr;
      if (OTF2_Reader_GetProperty(reader_, names[index], &value) == OTF2_SUCCESS && value) {
        properties_[names[index]] = value;
      }
      std::free(value);
    }
    std::free(names);
  }

  // Reads location by location, so that one file is open at a time.
  bool events(const Plan& plan, trace::TraceWriter& writer) {
    for (const auto& [location, place] : plan.places) OTF2_Reader_SelectLocation(reader_, location);
    const bool has_local = OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS;
    if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS) return false;
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    set_callbacks(callbacks, plan.own);
    bool good = true;
    for (const auto& [location, place] : plan.places) {
      if (has_local) local_definitions(location);
      good &= read_location(location, place, plan, writer, callbacks);
    }
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    if (has_local) OTF2_Reader_CloseDefFiles(reader_);
    OTF2_Reader_CloseEvtFiles(reader_);
    return good;
  }

  // Local definitions map the location's own numbers to the global ones, and its clock.
  void local_definitions(std::uint64_t location) {
    OTF2_DefReader* reader = OTF2_Reader_GetDefReader(reader_, location);
    if (!reader) return;
    std::uint64_t read = 0;
    OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read);
    OTF2_Reader_CloseDefReader(reader_, reader);
  }

  bool read_location(std::uint64_t location, const Place& place, const Plan& plan,
                     trace::TraceWriter& writer, const OTF2_EvtReaderCallbacks* callbacks) {
    OTF2_EvtReader* reader = OTF2_Reader_GetEvtReader(reader_, location);
    if (!reader) return false;
    LocationEvents events(archive_, plan, writer, place);
    bool good =
        OTF2_Reader_RegisterEvtCallbacks(reader_, reader, callbacks, &events) == OTF2_SUCCESS;
    std::uint64_t read = 0;
    good = good && OTF2_Reader_ReadAllLocalEvents(reader_, reader, &read) == OTF2_SUCCESS;
    events.finish();
    unknown_comms_ += events.unknown_comms();
    early_ns_ = std::max(early_ns_, events.early_ns());
    OTF2_Reader_CloseEvtReader(reader_, reader);
    return good;
  }

  std::string path_;
  OTF2_Reader* reader_ = nullptr;
  Archive archive_;
  std::map<std::string, std::string> properties_;
  std::uint64_t unknown_comms_ = 0, early_ns_ = 0;
  bool is_own_ = false;
};

std::string note_of(const trace::ClockComparison& clocks) {
  std::int64_t most_ns = 0;
  std::size_t unbounded = 0;
  for (const trace::ClockOffset& clock : clocks.offsets) {
    most_ns = std::max(most_ns, clock.offset_ns);
    unbounded += clock.bounded ? 0 : 1;
  }
  const auto text = [](auto ns) {
    return base::duration_text(base::seconds(static_cast<std::uint64_t>(ns)));
  };
  std::string note =
      "the processes' clocks were not synchronised: " + std::to_string(clocks.contradictions) +
      " messages and calls of collectives ended before what they waited for, by up to " +
      text(clocks.worst_ns) + "; times were shifted by up to " + text(most_ns) +
      ", as far as messages and collectives bound them";
  if (unbounded > 0)
    note += ", which is from one side only for " + std::to_string(unbounded) + " processes";
  if (clocks.left_ns > 0)
    note += "; the clocks drifted, so that " + text(clocks.left_ns) + " remain";
  return note;
}

}  // namespace
}  // namespace otf2

base::Status import_otf2(const std::string& path, const std::string& run_directory, Notes& notes) {
  std::uint64_t lead_ns = 0;
  std::vector<trace::ClockOffset> clocks;
  const auto import = [&](otf2::Import& archive) -> base::Status {
    std::error_code failed;
    std::filesystem::remove_all(std::filesystem::path(run_directory) / "trace", failed);
    if (failed)
      return base::Error{"cannot replace '" + run_directory + "/trace': " + failed.message()};
    notes.clear();
    return archive.run(run_directory, lead_ns, clocks, notes);
  };
  otf2::Import first(path);
  const base::Status imported = first.run(run_directory, lead_ns, clocks, notes);
  if (!imported || first.is_own()) return imported;
  // Clocks that differ can also place events before the beginning that the archive states.
  if (first.early_ns() > 0) {
    lead_ns = first.early_ns();
    otf2::Import again(path);
    const base::Status moved = import(again);
    if (!moved) return moved;
  }
  trace::ClockComparison compared;
  {
    const auto trace = trace::Trace::open(run_directory);
    if (!trace) return trace.error();
    compared = trace::compare_clocks(*trace);
  }
  if (compared.contradictions == 0) return base::Done{};
  clocks = compared.offsets;
  otf2::Import again(path);
  const base::Status shifted = import(again);
  notes.push_back(otf2::note_of(compared));
  return shifted;
}

}  // namespace fathom::importers
