// SPDX-License-Identifier: BSD-3-Clause
// `fathom view` where Fathom was built without its viewer.
#include "cli/commands/view.h"
#include "cli/language/command_line.h"

namespace fathom::cli {

Action declare_view(CLI::App& app) {
  app.allow_extras();
  return [] {
    return fail(kFailed, "view",
                "this Fathom was built without the viewer; with Node, npm and cpp-httplib, meson "
                "configure build -Dview=enabled adds it");
  };
}

}  // namespace fathom::cli
