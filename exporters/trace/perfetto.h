// SPDX-License-Identifier: BSD-3-Clause
// Perfetto's own format: protobuf TracePackets with TrackEvents (protos/perfetto/trace/track_event
// of google/perfetto). ui.perfetto.dev opens it, above 2 GB through `trace_processor --httpd`.
//
// Each rank is a process (pid = rank + 1, because pid 0 is the idle process there), each thread a
// track with its calls as nested slices. Each end of a message is an instant inside its call; a
// flow (arrow) joins both. Each message is also a slice from send to receive, on tracks "messages"
// of the receiver, as many as messages were under way at once. Phases are slices of a separate
// track.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_perfetto(const trace::Trace& trace, const TraceOptions& options,
                             const std::string& path, Notes& notes);

}  // namespace fathom::exporters
