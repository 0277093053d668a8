// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/received_inside.h"

#include <string>

namespace fathom::trace {
namespace {

void append(std::vector<std::uint64_t>& to, std::vector<std::uint64_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

CollectiveClasses::CollectiveClasses(const Definitions& definitions) {
  for (const std::string& name : definitions.classes) {
    const mpi::Meaning& meaning = mpi::meaning_of(name);
    const bool exchanges =
        meaning.flow == mpi::Flow::kAllToAll || meaning.flow == mpi::Flow::kBarrier;
    kinds_.push_back(meaning.group != Group::kCollective        ? Kind::kOther
                     : meaning.requests != mpi::Requests::kNone ? Kind::kNonblocking
                     : exchanges                                ? Kind::kExchange
                                                                : Kind::kOther);
  }
}

void ReceivedInside::step(const Event& event) {
  if (event.kind != EventKind::kTransfer || !event.receiving) return;
  const auto step = static_cast<TransferStep>(event.code);
  if (step == TransferStep::kActivate) {
    if (has_sent_) append(arrived_, found_);  // the next step of an exchange
    has_sent_ = found_now_ = false;
  } else if (step == TransferStep::kMatchedUnexpected) {
    found_now_ = true;
  } else if (step == TransferStep::kMatchedExpected) {
    found_now_ = false;
  }
}

void ReceivedInside::received(Label label, bool in_exchange) {
  if (in_exchange && found_now_) {
    found_.push_back(label);
  } else {
    // The library waited for this one, so it had also processed what it found before.
    append(arrived_, found_);
    arrived_.push_back(label);
  }
  found_now_ = false;
}

void ReceivedInside::end_call(std::vector<Label>& all) {
  append(all, arrived_);
  append(all, found_);
  has_sent_ = found_now_ = false;
}

}  // namespace fathom::trace
