// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/overlay.h"

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/launcher.h"
#include "base/text.h"
#include "base/text_lines.h"
#include "cli/launch/installation.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kReplacedLibrary[] = "/replaces/libmpi.so.40";

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
  using base::process_environment;
  if (const auto cache = process_environment("FATHOM_CACHE")) return *cache;
  if (const auto caches = process_environment("XDG_CACHE_HOME")) return *caches + "/fathom";
  return process_environment("HOME").value_or("") + "/.cache/fathom";
}

std::vector<std::string> overlays() {
  if (const char* listed = std::getenv("FATHOM_OVERLAY")) {  // empty: none
    std::vector<std::string> prefixes = base::split(listed, ':');
    std::erase(prefixes, "");
    return prefixes;
  }
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
