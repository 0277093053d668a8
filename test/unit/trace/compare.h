// SPDX-License-Identifier: BSD-3-Clause
// Events as text, so that a test that fails shows the fields that differ.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "trace/event.h"
#include "trace/reader.h"

namespace fathom::test {

inline std::string text_of(const trace::Event& event) {
  std::ostringstream text;
  text << "kind " << static_cast<int>(event.kind) << " at " << event.time_ns << " thread "
       << event.thread << " function " << event.function << " comm " << event.communicator
       << " new " << event.new_communicator << " peer " << event.peer << '/' << event.comm_peer
       << " tag " << event.tag << " bytes " << event.bytes << " peer2 " << event.peer2 << " tag2 "
       << event.tag2 << " bytes2 " << event.bytes2 << " root " << event.root << " request "
       << event.request << " site " << event.site << " object " << event.object << " count "
       << event.count << " offset " << event.offset << " code " << event.code << " flag "
       << event.flag << " receiving " << event.receiving;
  return text.str();
}

inline std::vector<std::string> texts(trace::EventCursor cursor) {
  std::vector<std::string> all;
  for (trace::Event event; cursor.next(event);) all.push_back(text_of(event));
  return all;
}

// The events of a process, with the names of functions, whose numbers may differ between traces.
inline std::vector<std::string> texts(const trace::Trace& trace, std::size_t process) {
  std::vector<std::string> all;
  auto cursor = trace.events(process);
  for (trace::Event event; cursor.next(event);) {
    const bool has_function = event.kind == trace::EventKind::kEnter ||
                              event.kind == trace::EventKind::kLeave ||
                              event.kind == trace::EventKind::kSampled;
    const std::string name =
        has_function ? trace.definitions().functions[event.function].name + " " : "";
    event.function = 0;
    all.push_back(name + text_of(event));
  }
  return all;
}

inline std::vector<std::string> texts(const std::vector<trace::Event>& events) {
  std::vector<std::string> all;
  for (const trace::Event& event : events) all.push_back(text_of(event));
  return all;
}

}  // namespace fathom::test
