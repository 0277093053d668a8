// SPDX-License-Identifier: BSD-3-Clause
// Perfetto's own format: protobuf TracePackets with TrackEvents (protos/perfetto/trace/track_event
// of google/perfetto), opened by ui.perfetto.dev, above 2 GB through `trace_processor --httpd`.
//
// A process for each rank (pid = rank + 1, for pid 0 is the idle process there), a track for each
// thread with its calls as nested slices. Each end of a message is an instant inside its call,
// joined by a flow (arrow); each message is also a slice from its sending to its receiving on
// tracks "messages" of the receiver, on as many as were under way at once. Phases are slices of a
// track of their own.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_perfetto(const trace::Trace& trace, const TraceOptions& options,
                             const std::string& path, Notes& notes);

}  // namespace fathom::exporters
