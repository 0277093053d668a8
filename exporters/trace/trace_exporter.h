// SPDX-License-Identifier: BSD-3-Clause
// What all export formats for traces have in common. How to add one: docs/adding-an-exporter.md.
//
// Each is a visitor over trace/join/walk.h that only formats. Output appears complete or not at
// all. Memory grows with what is open at one moment of the trace, not with its length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "exporters/common/exporter.h"
#include "trace/join/walk.h"
#include "trace/reader.h"

namespace fathom::exporters {

struct TraceOptions {
  bool user = true;    // the program's own messages
  bool hidden = true;  // the library's messages, inside collectives and other calls
  bool force = false;  // replace existing output; otherwise that is an Error

  bool wants(const trace::Message& message) const { return message.hidden ? hidden : user; }
};

struct TraceExporter {
  const char* name;       // as in `fathom export --format NAME`
  const char* help;       // one line
  const char* extension;  // of the usual output, with the dot; empty for a folder
  base::Status (*write)(const trace::Trace& trace, const TraceOptions& options,
                        const std::string& path, Notes& notes);
};

// Every export format for traces, one row each.
std::span<const TraceExporter> all_trace();
const TraceExporter* find_trace(std::string_view name);  // nullptr if there is no such format

// ---- shared by several formats ----

// Names by number. A number that the definitions lack (damage) gets a name too.
std::string_view class_name(const trace::Definitions& definitions, std::uint32_t message_class);
std::string communicator_name(const trace::Definitions& definitions, std::int32_t communicator);
std::string process_name(const trace::Process& process);  // "rank 3 on n1", and what it lost
std::string_view kind_name(trace::EventKind kind);        // "call", "sent", …

// The number of ranks that a format has to list: those of the job and of every process in the
// trace.
std::int64_t rank_count(const trace::Definitions& definitions);

bool is_hidden(const trace::Definitions& definitions, std::uint32_t message_class);

// Notes damage that was met, and how many messages have only one end.
void note(const trace::WalkSummary& summary, Notes& notes);
// Notes the loss and damage that the definitions report.
void note_loss(const trace::Definitions& definitions, Notes& notes);
// Walks through the whole job and notes both: all that a format with one file for all ranks needs.
void walk_job(const trace::Trace& trace, trace::Visitor& visitor, Notes& notes);

// Gives messages one number for communicator and tag, for formats without communicators (GOAL,
// SMPI). The program's tags on MPI_COMM_WORLD stay as they are; each other pair of communicator and
// tag, and every negative tag, gets a number from 2^30 up, the same on all ranks.
class FlatTags {
 public:
  static constexpr std::uint32_t kFirstOther = 1u << 30;

  std::uint32_t tag_of(std::int32_t communicator, std::int32_t tag);

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> others_;
};

}  // namespace fathom::exporters
