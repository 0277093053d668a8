// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/named_call_sites.h"

#include "trace/code/code_files.h"

namespace fathom::trace {

bool has_names(const profile::CallSite& site) {
  return !site.function.empty() || !site.file.empty();
}

void name_call_sites(std::vector<profile::CallSite>& sites) {
  CodeFiles files;
  for (profile::CallSite& site : sites) {
    if (site.module.empty() || has_names(site)) continue;
    CodeSite found;
    found.module = site.module;
    found.offset = site.offset;
    files.look_up(site.build_id, found);
    site.function = found.function;
    site.file = found.file;
    site.line = found.line;
  }
}

namespace {
CodeSite code_site(const profile::CallSite& site) {
  return {site.function, site.file, static_cast<int>(site.line), site.module, site.offset};
}
}  // namespace

std::string describe(const profile::CallSite& site) {
  if (site.module.empty() && site.offset == 0 && !has_names(site)) return "";
  return describe(code_site(site));
}

std::string file_or_module(const profile::CallSite& site) {
  return file_or_module(code_site(site));
}

}  // namespace fathom::trace
