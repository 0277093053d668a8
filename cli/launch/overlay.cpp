// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/overlay.h"

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "cli/launch/installation.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kReplacedLibrary[] = "/replaces/libmpi.so.40";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at) items.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  const auto size = fs::file_size(a, failed);
  if (failed || size != fs::file_size(b, failed) || failed) return false;
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  return std::equal(std::istreambuf_iterator<char>(first), {},
                    std::istreambuf_iterator<char>(second), {});
}

}  // namespace

std::string cache_folder() {
  if (const std::string cache = variable("FATHOM_CACHE"); !cache.empty()) return cache;
  const std::string base = variable("XDG_CACHE_HOME");
  return (base.empty() ? variable("HOME") + "/.cache" : base) + "/fathom";
}

std::vector<std::string> overlays() {
  if (const char* listed = std::getenv("FATHOM_OVERLAY")) return split(listed);
  std::vector<std::string> found;
  glob_t matches = {};
  const std::string pattern = cache_folder() + "/openmpi-*-peruse-overlay-*" + kReplacedLibrary;
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
      const std::string folder = fs::path(matches.gl_pathv[i]).parent_path().parent_path();
      // Lists with ':' and ';' take them to the ranks.
      if (folder.find_first_of(":;") == folder.npos) found.push_back(folder);
    }
  }
  globfree(&matches);
  return found;
}

std::optional<std::string> overlay_for(const std::string& libmpi) {
  for (const std::string& overlay : overlays()) {
    if (same_bytes(overlay + kReplacedLibrary, libmpi)) return overlay;
  }
  return std::nullopt;
}

OverlayOffer offer_overlays() {
  const std::vector<std::string> offered = overlays();
  const auto library = find_overlay_library();
  if (offered.empty() || !library) return {};
  return {{*library}, {{"FATHOM_OVERLAY", base::joined(offered, ":")}}};
}

}  // namespace fathom::cli
