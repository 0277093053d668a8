// SPDX-License-Identifier: BSD-3-Clause
// `fathom view` where Fathom was built without its viewer.
#include "cli/commands/export_page.h"
#include "cli/commands/view.h"
#include "cli/language/command_line.h"

namespace fathom::cli {

bool can_export_page() { return false; }

int export_page(const std::string&, const std::string&, bool) {
  return fail(kFailed, "export", "this Fathom was built without the viewer");
}

Action declare_view(CLI::App& app) {
  app.allow_extras();
  return [] {
    return fail(kFailed, "view",
                "this Fathom was built without the viewer; with Node, npm and cpp-httplib, meson "
                "configure build -Dview=enabled adds it");
  };
}

}  // namespace fathom::cli
