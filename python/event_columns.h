// SPDX-License-Identifier: BSD-3-Clause
// The events of one process as columns, one piece at a time, from which Python builds DataFrames.
//
// EventColumns has one row per event. If a call's Leave is in the same piece, its Enter row has the
// Leave's row and the call's times. Depth is 0 for a call of the program. CallColumns has one row
// per call, written when the call is left.
//
// The events are those that ScopedEvents yields for a scope. A Leave belongs to the innermost open
// call of its function. Calls inside that one whose own Leave was lost have no match in
// EventColumns, and end there in CallColumns, like calls that are open at the end of the events.
// Times are ns of the run. Cost: one pass over the process per reader. Memory: the piece, and the
// open calls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "python/scoped_events.h"
#include "trace/reader.h"

namespace fathom::python {

enum class EventType : std::int8_t { kEnter, kLeave, kInstant };

// Where a call was made: the process, by its index in the trace, and the return address.
struct CallSite {
  std::uint32_t process = 0;
  std::uint64_t address = 0;
};

struct EventColumns {
  std::vector<std::int64_t> time_ns, matching, matching_time_ns, parent, bytes, request;
  std::vector<std::int8_t> type;
  std::vector<std::int32_t>
      name;  // for a call the function; else function count + kind of the event
  std::vector<std::int32_t> process;  // index among the processes read
  std::vector<std::int32_t> thread, depth, peer, tag, communicator, root, message_class;
  std::vector<double> inclusive_ns, exclusive_ns;  // NaN except on Enter rows whose Leave is known
  std::vector<std::int32_t> site;                  // on Enter rows: index in `sites`; else -1
  std::vector<CallSite> sites;
  bool with_positions = false;         // whether to fill `position`
  std::vector<std::int64_t> position;  // ScopedEvents::position() of each event
  std::size_t size() const { return time_ns.size(); }
  void reserve(std::size_t rows);
};

struct CallColumns {
  std::vector<std::int32_t> name, thread, depth;
  std::vector<std::int64_t> start_ns, end_ns;
  std::vector<double> exclusive_ns;
  std::vector<std::int32_t> site;  // index in `sites`; -1: not recorded
  std::vector<CallSite> sites;
};

// Follows the calls of a process and produces the requested columns.
class ColumnReader {
 public:
  ColumnReader(const trace::Trace& trace, std::size_t process, const analysis::Scope& scope);

  // Appends rows for that process until there are `most`; fewer at the end. Rows are numbered from
  // the beginning of the columns.
  void events(std::size_t most, std::int32_t process, EventColumns& columns);
  // The calls completed by the next `most` events. False at the end.
  bool calls(std::size_t most, CallColumns& columns);

 private:
  struct Open {
    std::uint32_t function = 0;
    std::uint64_t enter_ns = 0;
    double inside_ns = 0;   // in calls nested inside it
    std::int64_t row = -1;  // row of its Enter in the piece
    std::uint64_t site = 0;
  };
  using Stack = std::vector<Open>;

  bool next(trace::Event& event);
  Stack& open(std::uint32_t thread);
  void enter(const trace::Event& event, std::int64_t row);
  template <typename Left>
  void leave(const trace::Event& event, Left left);
  void add_event(const trace::Event& event, std::int32_t process, EventColumns& columns);
  void enter_row(const trace::Event& event, EventColumns& columns);
  void leave_row(const trace::Event& event, EventColumns& columns);
  void add_call(const Open& call, std::uint32_t thread, std::size_t depth, std::uint64_t leave_ns,
                CallColumns& columns);

  // Number of the address among `sites`, which it joins if it is new; -1 for address 0.
  std::int32_t number_of(std::uint64_t address, std::vector<CallSite>& sites);

  ScopedEvents events_;
  const std::uint32_t process_;
  base::FlatMap<std::uint64_t, std::int32_t> site_numbers_;  // of the piece, by address
  const std::int32_t functions_;
  std::uint64_t last_ns_ = 0;
  bool ended_ = false;
  std::vector<Stack> open_;  // by thread
};

}  // namespace fathom::python
