// SPDX-License-Identifier: BSD-3-Clause
// The destination of a set of small files: a folder, a .tar or a .tar.gz, depending on the path.
// All files appear together or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exporters/common/exporter.h"

namespace fathom::exporters {

class RankFiles {
 public:
  virtual ~RankFiles() = default;
  virtual base::Status add(const std::string& name, std::string_view bytes) = 0;
  virtual base::Status commit() = 0;
};

// Options::force replaces an existing archive; a folder that is not empty is never touched.
base::Result<std::unique_ptr<RankFiles>> open_rank_files(const std::string& path,
                                                         const Options& options);

}  // namespace fathom::exporters
