// Every selector, scheduler, mapper, router and topology: one row each.
//
// find_…() gives an Error that lists the known names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/placement.h"
#include "simulator/routing.h"
#include "simulator/scheduler.h"
#include "simulator/topology.h"

namespace fathom::simulator {

std::span<const SelectorRow> selectors();
std::span<const SchedulerRow> schedulers();
std::span<const MapperRow> mappers();
std::span<const RouterRow> routers();
std::span<const TopologyRow> topologies();

base::Result<const SelectorRow*> find_selector(std::string_view name);
base::Result<const SchedulerRow*> find_scheduler(std::string_view name);
base::Result<const MapperRow*> find_mapper(std::string_view name);
base::Result<const RouterRow*> find_router(std::string_view name);
base::Result<const TopologyRow*> find_topology(std::string_view name);

}  // namespace fathom::simulator
