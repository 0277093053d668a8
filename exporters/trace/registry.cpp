// SPDX-License-Identifier: BSD-3-Clause
#include "base/named_rows.h"
#include "exporters/trace/chrome.h"
#include "exporters/trace/csv.h"
#include "exporters/trace/goal.h"
#include "exporters/trace/otf2.h"
#include "exporters/trace/paraver.h"
#include "exporters/trace/perfetto.h"
#include "exporters/trace/pyrite.h"
#include "exporters/trace/smpi.h"
#include "exporters/trace/speedscope.h"
#include "exporters/trace/sqlite.h"
#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {
namespace {

constexpr TraceExporter kTraceExporters[] = {
    {"otf2", "OTF2 archive for Vampir, Pipit and other tools, into a folder", "", export_otf2},
    {"perfetto", "Perfetto's own format, for ui.perfetto.dev", ".perfetto-trace", export_perfetto},
    {"chrome", "Chrome's trace event JSON, for small traces", ".json", export_chrome},
    {"paraver", "Paraver: .prv with .pcf and .row beside it", ".prv", export_paraver},
    {"goal", "GOAL text for LogGOPSim and ATLAHS, collectives as their messages", ".goal",
     export_goal},
    {"smpi", "SimGrid's time-independent traces, collectives as their messages, into a folder", "",
     export_smpi},
    {"events", "CSV: one line for each call, end of a message, or other event", ".csv",
     export_trace_csv},
    {"pyrite", "Pyrite's analysis object: summary, ranks, links, barriers, patterns, issues",
     ".json", export_pyrite},
    {"speedscope", "speedscope's flame graphs: who calls MPI, and for how long", ".speedscope.json",
     export_speedscope},
    {"sqlite", "SQLite database: calls, call sites, messages, communicators", ".sqlite",
     export_sqlite},
};

}  // namespace

std::span<const TraceExporter> all_trace() { return kTraceExporters; }

const TraceExporter* find_trace(std::string_view name) {
  return base::row_named(all_trace(), name);
}

}  // namespace fathom::exporters
