// SPDX-License-Identifier: BSD-3-Clause
// The events of one process as columns, a piece at a time: what the DataFrames of Python are made
// of.
//
// EventColumns has one row for each event. A call's Enter row carries, if its Leave is in the same
// piece, the row of that, and the call's times; depth is 0 for a call of the program. CallColumns
// has one row for each call, written when it is left. SegmentColumns has one row for each stretch
// of time in which one call was the innermost open one of its thread: their lengths sum up to
// exclusive times.
//
// Of a scope there is what ScopedEvents gives of it. A Leave belongs to the innermost open call of
// its function; those inside that one whose own Leave was lost have no match in EventColumns, and
// end there in the others, as calls that are open where the events end do. Times are ns of the run.
// Cost: one pass over the process for each reader. Memory: the piece, and the calls that are open.
#pragma once

#include <cstdint>
#include <vector>

#include "python/scoped_events.h"
#include "trace/reader.h"

namespace fathom::python {

enum class EventType : std::int8_t { kEnter, kLeave, kInstant };

struct EventColumns {
  std::vector<std::int64_t> time_ns, matching, matching_time_ns, parent, bytes, request;
  std::vector<std::int8_t> type;
  std::vector<std::int32_t>
      name;  // of a call the function; else function count + kind of the event
  std::vector<std::int32_t> process;  // position among those that are read
  std::vector<std::int32_t> thread, depth, peer, tag, communicator, root, message_class;
  std::vector<double> inclusive_ns, exclusive_ns;  // NaN but on Enter rows that have their Leave
  std::size_t size() const { return time_ns.size(); }
  void reserve(std::size_t rows);
};

struct CallColumns {
  std::vector<std::int32_t> name, thread, depth;
  std::vector<std::int64_t> start_ns, end_ns;
  std::vector<double> exclusive_ns;
};

struct SegmentColumns {
  std::vector<std::int32_t> name;
  std::vector<std::int64_t> start_ns, end_ns;
};

// Follows the calls of a process; gives what was asked for.
class ColumnReader {
 public:
  ColumnReader(const trace::Trace& trace, std::size_t process, const analysis::Scope& scope);

  // Appends until there are `most` rows, for that process; fewer at the end. Rows are counted from
  // the beginning of the columns.
  void events(std::size_t most, std::int32_t process, EventColumns& columns);
  // What the next `most` events complete. False at the end.
  bool calls(std::size_t most, CallColumns& columns);
  bool segments(std::size_t most, SegmentColumns& columns);

 private:
  struct Open {
    std::uint32_t function = 0;
    std::uint64_t enter_ns = 0;
    std::uint64_t top_since_ns = 0;  // the innermost since then
    double inside_ns = 0;            // in calls that it made
    std::int64_t row = -1;           // of its Enter in the piece
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
                CallColumns& columns) const;
  void add_segment(const Open& call, std::uint64_t end_ns, SegmentColumns& columns) const;

  ScopedEvents events_;
  const std::int32_t functions_;
  std::uint64_t last_ns_ = 0;
  bool ended_ = false;
  std::vector<Stack> open_;  // by thread
};

}  // namespace fathom::python
