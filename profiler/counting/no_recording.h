// SPDX-License-Identifier: BSD-3-Clause
// The events of a message in the libraries that do not record them: nothing happens.
#pragma once

#include <cstdint>

#include "profiler/counting/live_communicator.h"
#include "trace/format/format.h"

namespace fathom::profiler::events {

inline constexpr bool kRecords = false;

inline void message_sent(const openmpi::Layout&, const void*, int, int, std::uint64_t) {}
inline void send_requested(const void*) {}
inline void receive_requested(const void*) {}
inline void request_started(const void*, bool) {}
inline void request_completed(const void*, bool) {}
inline void message_received(const Live&, int, int, std::uint64_t, const void*) {}
inline void received_retracted(const void*) {}
inline bool records_transfers() { return false; }
inline constexpr bool records_where_noted() { return false; }
inline void transfer(trace::TransferStep, bool, const void*, std::ptrdiff_t = 0,
                     trace::TransferStep = {}) {}
inline void not_begun(const void*) {}
inline void unexpected(const Live&, int, int, bool) {}

}  // namespace fathom::profiler::events
