// SPDX-License-Identifier: BSD-3-Clause
// What libfathom-count.so does with each message besides counting it: nothing.
#pragma once

#include "profiler/counting/no_recording.h"

namespace fathom::profiler::events {

inline constexpr bool kFindsWaits = false;

inline void sent(const Live&, int, int, void*) {}
inline void posted(const Live*, int, int, void*, bool) {}
inline void posted_with(void*, std::uint64_t, bool) {}
inline std::uint64_t posted_matched(const void*) { return 0; }
inline std::uint64_t started(const Live*, int, int) { return 0; }
inline void not_started(std::uint64_t) {}
inline void received(const Live&, int, int, std::uint64_t) {}
inline void request_received(const Live&, int, int, const void*, bool) {}
inline void given_up_received(const Live&, int, int, const void*, bool) {}
inline void request_seen(const Live&, int, int, void*) {}
inline void persistent_received(const Live&, int, int, std::uint64_t, const void*) {}
inline void not_received(const void*, bool) {}

}  // namespace fathom::profiler::events
