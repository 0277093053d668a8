// SPDX-License-Identifier: BSD-3-Clause
// What `fathom view` asks the simulator for: a network with the load that a run would put on it
// (/api/network), and what one of its links carries (/api/network/link).
//
// Parameters come from a browser, so none names a file: clusters are topology specifications, or those that
// the command line named (`--cluster`), by the same text.
//
//   cluster    KIND:key=value;…; left out: the first of the command line's, else one that has room for the run
//   placement  up to four names, separated by commas; also "as-run", where the cluster has the run's hosts
//   selection, routing, model, seed  as in `fathom simulate`
//   link, top  of /api/network/link: number of the link; how many flows and pairs are listed
//   only       "chosen": what a part of the traffic puts on the links, on the paths of the whole; the part is of
//              `ranks` at either end, of a `pair` ("3-4"), of a `class`
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::cli {

// Takes a run as `fathom simulate --job` does, and parameters; gives a JSON object without the schema: the
// members that simulator/run/network_picture.h describes, and "runs". `window`: the profile of a window of time, which
// a profile of the run does not hold so the caller gives it; nullptr: the whole run. All answers are of the
// window, as those of `fathom simulate --from --to`; but model replay is of the whole run, and only `only=chosen` and
// `link` are then of what was received in the window, on the paths of the whole. The Error is a sentence about a parameter,
// or what `fathom simulate` would say. Cost: that of the simulation; nothing is kept. Threading: any thread.
using NetworkTool = std::function<base::Result<std::string>(
    const std::string& run, const std::map<std::string, std::string>& parameters,
    const profile::Profile* window)>;
// `clusters`: those of the command line. Empty where Fathom was built without the simulator.
// cli/commands/simulator/ has both.
NetworkTool network_tool(const std::vector<std::string>& clusters);

}  // namespace fathom::cli
