// SPDX-License-Identifier: BSD-3-Clause
// The duration of a traced run, or of the chosen window: the one base of all seconds and shares of
// a trace.
//
// A run is measured while the program has MPI: from the first rank that left MPI_Init to the last
// that entered MPI_Finalize (trace/join/program_spans.h). Start-up says nothing about the program, and
// may take longer than the rest. A chosen window is measured as it is, up to the trace's own ends.
// Times of findings count from the trace's time 0, which is its first event unless the trace was
// sliced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/scope/scope_filter.h"
#include "trace/join/program_spans.h"

namespace fathom::analysis {

using TraceSpan = trace::Span;

// From the first event to the last; 0 to 0 without processes.
inline TraceSpan recorded_span(const trace::Definitions& definitions) {
  TraceSpan span{~std::uint64_t{0}, 0};
  for (const trace::Process& process : definitions.processes) {
    span.from_ns = std::min(span.from_ns, process.first_ns);
    span.to_ns = std::max(span.to_ns, process.last_ns);
  }
  span.from_ns = std::min(span.from_ns, span.to_ns);
  return span;
}

// The part of a span in the scope's window.
inline TraceSpan in_window(TraceSpan span, const Scope& scope) {
  span.from_ns = std::clamp(scope.from_ns, span.from_ns, span.to_ns);
  span.to_ns = std::clamp(scope.to_ns, span.from_ns, span.to_ns);
  return span;
}

// `programs`: by process, its part between MPI_Init and MPI_Finalize.
inline TraceSpan span_of(const std::vector<TraceSpan>& programs,
                         const trace::Definitions& definitions, const Scope& scope) {
  if (!scope.whole_time()) return in_window(recorded_span(definitions), scope);
  TraceSpan span{~std::uint64_t{0}, 0};
  for (const std::uint32_t process : ScopeFilter(scope, definitions).chosen()) {
    span.from_ns = std::min(span.from_ns, programs[process].from_ns);
    span.to_ns = std::max(span.to_ns, programs[process].to_ns);
  }
  span.from_ns = std::min(span.from_ns, span.to_ns);
  return span;
}

// The total of all chosen ranks, the base of shares.
inline std::uint64_t all_ranks_ns(const std::vector<TraceSpan>& programs,
                                  const trace::Definitions& definitions, const Scope& scope) {
  return span_of(programs, definitions, scope).ns() *
         ScopeFilter(scope, definitions).chosen().size();
}

}  // namespace fathom::analysis
