// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/export_page.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/atomic_file.h"
#include "cli/commands/view_tools.h"
#include "cli/language/command_line.h"
#include "cli/launch/installation.h"
#include "view/shareable.h"

namespace fathom::cli {

bool can_export_page() { return true; }

int export_page(const std::string& run, const std::string& path, bool force) {
  const auto refuse = [](const std::string& why) { return fail(kFailed, "export", why); };
  const auto pages = view::Pages::load(pages_folder());
  if (!pages) return refuse(pages.error().message);
  base::AtomicFile file;
  const auto existing =
      force ? base::AtomicFile::Existing::kReplace : base::AtomicFile::Existing::kKeep;
  if (const auto opened = file.open(path, existing); !opened) return refuse(opened.error().message);
  view::Session session;
  session.tools = view_tools();
  session.runs.push_back(std::make_unique<view::ViewedRun>(run, session.tools));
  const auto made = view::shareable_file(session, *pages);
  if (!made) return refuse(made.error().message);
  file.append(made->html);
  if (const auto committed = file.commit(); !committed) return refuse(committed.error().message);
  if (made->levels < made->all_levels)
    std::fprintf(stderr,
                 "fathom export: %u of the timeline's %u levels fit into the file's 20 MB; fathom "
                 "view shows all of them\n",
                 made->levels, made->all_levels);
  for (const std::string& question : made->left_out)
    std::fprintf(stderr,
                 "fathom export: left out the answer to %s, which is larger than 2 MB; fathom view "
                 "shows it\n",
                 question.c_str());
  return kFine;
}

}  // namespace fathom::cli
