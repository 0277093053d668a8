// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/registry.h"

#include "base/named_rows.h"
#include "exporters/profile/calls_csv.h"
#include "exporters/profile/csv.h"
#include "exporters/profile/graphml.h"
#include "exporters/profile/metis.h"
#include "exporters/profile/npz.h"
#include "exporters/profile/openmetrics.h"
#include "exporters/profile/path_csv.h"
#include "exporters/profile/pfprof.h"
#include "exporters/profile/scotch.h"
#include "exporters/profile/treematch.h"
#include "exporters/profile/waits_csv.h"

namespace fathom::exporters {
namespace {

constexpr Exporter kExporters[] = {
    {"csv", "one line for each pair, class, communicator and phase", ".csv", export_csv},
    {"calls", "one line for each rank, MPI function and place that calls it: time and bytes",
     ".calls.csv", export_calls_csv},
    {"waits", "one line for each pair of ranks, call site and kind of wait: who waited for whom",
     ".waits.csv", export_waits_csv},
    {"path", "one line for each rank and call site on the critical path, of the run and of windows",
     ".path.csv", export_path_csv},
    {"npz", "NumPy: sparse matrix for scipy.sparse.load_npz, bytes and messages", ".npz",
     export_npz},
    {"graphml", "directed graph of ranks with bytes and messages", ".graphml", export_graphml},
    {"metis", "METIS and Chaco graph, both directions added up", ".graph", export_metis},
    {"scotch", "Scotch source graph, both directions added up", ".grf", export_scotch},
    {"treematch", "TreeMatch matrix: dense text, both directions added up", ".mat",
     export_treematch},
    {"openmetrics", "OpenMetrics text for Prometheus: traffic by rank, message sizes", ".prom",
     export_openmetrics},
    {"pfprof", "oxton-result<rank>.json for each rank, in a folder, .tar or .tar.gz", "",
     export_pfprof},
};

}  // namespace

std::span<const Exporter> all() { return kExporters; }

const Exporter* find(std::string_view name) { return base::row_named(all(), name); }

}  // namespace fathom::exporters
