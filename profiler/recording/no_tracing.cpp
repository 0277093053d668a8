// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/tracing.h"

namespace fathom::profiler::tracing {

void prepare(const Settings&) noexcept {}
void open(ProfiledProcess&, Gather&) noexcept {}
void communicator_known(std::uint32_t) noexcept {}
void phase_begun(std::uint32_t, const char*) noexcept {}
void phase_ended(std::uint32_t, std::uint32_t) noexcept {}
void paused(bool) noexcept {}
void world_collective_ended() noexcept {}
void before_close() noexcept {}
void finish(ProfiledProcess&) noexcept {}

}  // namespace fathom::profiler::tracing
