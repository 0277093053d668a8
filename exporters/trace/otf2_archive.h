// SPDX-License-Identifier: BSD-3-Clause
// Writes an OTF2 archive through libotf2: the definitions and event files of one run.
//
//   PATH/traces.otf2, PATH/traces.def   anchor and global definitions
//   PATH/traces/LOCATION.evt            events of one thread: location = thread * 2^32 + world rank
//                                       Readers require a file with an event for each location, so
//                                       ranks without events have one that says "measurement off".
//
// The folder appears complete or not at all. This header does not include libotf2's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/trace/otf2_groups.h"
#include "exporters/trace/trace_exporter.h"

struct OTF2_EvtWriter_struct;

namespace fathom::exporters {

class Otf2Archive {
 public:
  static base::Result<std::unique_ptr<Otf2Archive>> create(const std::string& path, bool force,
                                                           const trace::Definitions& definitions);
  ~Otf2Archive();  // without finish(), leaves nothing behind

  // The event writer of one thread; close_events() closes it.
  OTF2_EvtWriter_struct* events_of(std::int64_t rank, std::uint32_t thread);
  void close_events(std::int64_t rank, std::uint32_t thread);

  // The OTF2_StringRef of the text, as UTF-8, which Python's otf2 requires.
  std::uint32_t string(std::string_view text);

  // The OTF2_RegionRef of a function. Regions are those asked for, in that order.
  std::uint32_t region(std::uint32_t function);

  // The OTF2_SourceCodeLocationRef of a line.
  std::uint32_t source_code_location(const std::string& file, std::uint32_t line);

  // The communicator or, for a class other than point-to-point, its twin, so that tools that match
  // messages never match the library's with the program's. Made on first use.
  std::uint32_t communicator(std::int32_t communicator, std::uint32_t message_class);

  Otf2Groups& groups();

  // A window, identified by its creation: the `ordinal`th on that communicator.
  std::uint32_t window(std::int32_t communicator, std::uint32_t ordinal);

  void saw_time(std::uint64_t time_ns);

  // Writes the definitions, closes the files and gives the folder its name.
  base::Status finish();

  struct State;

 private:
  explicit Otf2Archive(std::unique_ptr<State> state);
  void add_silent_ranks();
  void add_silent(std::int64_t rank);

  std::unique_ptr<State> state_;
};

}  // namespace fathom::exporters
