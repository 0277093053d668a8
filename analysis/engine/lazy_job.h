// SPDX-License-Identifier: BSD-3-Clause
// The joined job shared by the analyses of one run; joined when first asked for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "trace/join/program_spans.h"

namespace fathom::analysis {

class LazyJob {
 public:
  // `trace` and `transport` must outlive this; without a transport it works alone.
  explicit LazyJob(const trace::Trace& trace, Transport* transport = nullptr)
      : trace_(trace), transport_(transport ? transport : &alone_) {}

  Transport& transport() { return *transport_; }
  const trace::Trace& trace() const { return trace_; }

  // By process: its part between MPI_Init and MPI_Finalize. Collective over the transport when first
  // asked for.
  const std::vector<trace::Span>& programs();

  // Collective over the transport. A first Error is returned again by later calls.
  base::Result<JoinedJob*> joined() { return once(joined_, {}); }

  // What joined() has made, if it has; nullptr: it has not.
  const JoinedJob* already_joined() const {
    return joined_ && *joined_ ? joined_->value().get() : nullptr;
  }

  // The same with steps for the library's own messages, which are many: a separate job.
  base::Result<JoinedJob*> joined_with_hidden() {
    JoinOptions options;
    options.hidden_messages = true;
    return once(with_hidden_, options);
  }

 private:
  using Made = std::unique_ptr<base::Result<std::unique_ptr<JoinedJob>>>;

  base::Result<JoinedJob*> once(Made& made, const JoinOptions& options) {
    if (!made) {
      made = std::make_unique<base::Result<std::unique_ptr<JoinedJob>>>(
          transport_->size() > 1
              ? join_job(trace_, *transport_, options)
              : join_in_threads(trace_, *transport_, options, joining_threads(trace_)));
    }
    if (!*made) return made->error();
    return made->value().get();
  }

  const trace::Trace& trace_;
  SingleProcess alone_;
  Transport* transport_;
  Made joined_, with_hidden_;
  std::optional<std::vector<trace::Span>> programs_;
};

}  // namespace fathom::analysis
