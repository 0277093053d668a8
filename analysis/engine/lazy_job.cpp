// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/lazy_job.h"

#include "analysis/engine/parcels.h"

namespace fathom::analysis {

const std::vector<trace::Span>& LazyJob::programs() {
  if (programs_) return *programs_;
  struct Found {
    std::uint64_t process = 0;
    trace::Span span;
  };
  const std::size_t count = trace_.definitions().processes.size(), all = transport_->size();
  const trace::ProgramSpans spans(trace_);
  Parcels parcels(all);
  for (std::size_t process = transport_->rank(); process < count; process += all) {
    const Found found{process, spans.of(process)};
    for (std::size_t to = 0; to < all; ++to) parcels.send(to, 0, found);
  }
  programs_.emplace(count);
  for (const Transport::Bytes& bytes : transport_->exchange(parcels.take())) {
    for (Received received(bytes); received.more();) {
      received.kind();
      const auto found = received.take<Found>();
      (*programs_)[found.process] = found.span;
    }
  }
  return *programs_;
}

}  // namespace fathom::analysis
