// SPDX-License-Identifier: BSD-3-Clause
// The files that make up the pages, read once: a request names one of them, never a path.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace fathom::view {

struct PageFile {
  std::string type, bytes;
};

class Pages {
 public:
  // The regular files of a folder of known kinds, without its subfolders. An Error if there is no index.html.
  static base::Result<Pages> load(const std::string& folder);

  // "/" is index.html; nullptr: there is none.
  const PageFile* find(const std::string& path) const;
  const std::map<std::string, PageFile>& files() const { return files_; }  // by name

 private:
  std::map<std::string, PageFile> files_;
};

}  // namespace fathom::view
