// The joined job that several analyses of one run share: made when the first of them asks.
#pragma once

#include <memory>

#include "analysis/replay/joined_job.h"

namespace fathom::analysis {

class LazyJob {
 public:
  // `trace` and `transport` outlive this; without a transport it works alone.
  explicit LazyJob(const trace::Trace& trace, Transport* transport = nullptr)
      : trace_(trace), transport_(transport ? transport : &alone_) {}

  Transport& transport() { return *transport_; }
  const trace::Trace& trace() const { return trace_; }

  // Collective over the transport. The Error stays what it was the first time.
  base::Result<JoinedJob*> joined() {
    if (!joined_) joined_ = std::make_unique<base::Result<std::unique_ptr<JoinedJob>>>(join_job(trace_, *transport_, {}));
    if (!*joined_) return joined_->error();
    return joined_->value().get();
  }

 private:
  const trace::Trace& trace_;
  SingleProcess alone_;
  Transport* transport_;
  std::unique_ptr<base::Result<std::unique_ptr<JoinedJob>>> joined_;
};

}  // namespace fathom::analysis
