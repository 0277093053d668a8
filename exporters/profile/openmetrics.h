// SPDX-License-Identifier: BSD-3-Clause
// A finished run as OpenMetrics 1.0 text (https://openmetrics.io), for a Prometheus that keeps one
// set of figures for each job.
//
//   fathom_run                  gauge      always 1; its labels say what ran, where and how
//   fathom_run_seconds          gauge      the job's length
//   fathom_run_start_seconds    gauge      when it began, since the epoch
//   fathom_run_ranks            gauge      processes
//   fathom_coverage             gauge      1 for the verdict that `coverage` has
//   fathom_lost_messages        counter    not counted, because no memory was left
//   fathom_unreceived_messages  counter    sent, and still waiting at the receiver at the end
//   fathom_sent_bytes           counter    by rank, host, class, hidden
//   fathom_sent_messages        counter    the same; fathom_received_… are the receivers' view
//   fathom_message_size_bytes   histogram  by class, hidden; buckets end at powers of 8
//
// Only types that Prometheus' older text format has too, and no timestamps: node_exporter's textfile
// collector reads the file as it is. Pairs of ranks are left out, because each would be a time series.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_openmetrics(const profile::Profile& profile, const Options& options,
                                const std::string& path, Notes& notes);

}  // namespace fathom::exporters
