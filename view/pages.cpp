// SPDX-License-Identifier: BSD-3-Clause
#include "view/pages.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace fathom::view {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
    {".wasm", "application/wasm"},
}};

}  // namespace

base::Result<Pages> Pages::load(const std::string& folder) {
  Pages pages;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (!entry.is_regular_file(failed)) continue;
    for (const auto& [ending, type] : kTypes) {
      if (entry.path().extension().string() != ending) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      PageFile page{std::string(type), {std::istreambuf_iterator<char>(file), {}}};
      pages.files_[entry.path().filename().string()] = std::move(page);
    }
  }
  if (!pages.files_.contains("index.html"))
    return base::Error{"the pages of the viewer are not in '" + folder +
                       "'; install Fathom again, or build it with Node and npm"};
  return pages;
}

const PageFile* Pages::find(const std::string& path) const {
  if (path.empty() || path.front() != '/') return nullptr;
  const auto found = files_.find(path == "/" ? "index.html" : path.substr(1));
  return found == files_.end() ? nullptr : &found->second;
}

}  // namespace fathom::view
