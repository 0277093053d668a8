// SPDX-License-Identifier: BSD-3-Clause
// The duration of a traced run, or of the chosen window: the one base of all seconds and shares of
// a trace.
//
// It runs from the first event of any process to the last, so it includes MPI_Init and
// MPI_Finalize. Times of findings count from the trace's time 0, which is its first event unless
// the trace was sliced.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/scope/scope_filter.h"

namespace fathom::analysis {

struct TraceSpan {
  std::uint64_t from_ns = 0, to_ns = 0;
  std::uint64_t ns() const { return to_ns - from_ns; }
};

// From the first event to the last; 0 to 0 without processes.
inline TraceSpan span_of(const trace::Definitions& definitions) {
  TraceSpan span{~std::uint64_t{0}, 0};
  for (const trace::Process& process : definitions.processes) {
    span.from_ns = std::min(span.from_ns, process.first_ns);
    span.to_ns = std::max(span.to_ns, process.last_ns);
  }
  span.from_ns = std::min(span.from_ns, span.to_ns);
  return span;
}

// The part of it in the scope's window.
inline TraceSpan span_of(const trace::Definitions& definitions, const Scope& scope) {
  TraceSpan span = span_of(definitions);
  span.from_ns = std::clamp(scope.from_ns, span.from_ns, span.to_ns);
  span.to_ns = std::clamp(scope.to_ns, span.from_ns, span.to_ns);
  return span;
}

// The total of all chosen ranks, the base of shares.
inline std::uint64_t all_ranks_ns(const trace::Definitions& definitions, const Scope& scope) {
  return span_of(definitions, scope).ns() * ScopeFilter(scope, definitions).chosen().size();
}

}  // namespace fathom::analysis
