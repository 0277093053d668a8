// SPDX-License-Identifier: BSD-3-Clause
// An archive of several files, written by libarchive through an AtomicFile.
//
// Times and owners are fixed, so that the same input gives the same bytes. libarchive stays in the
// .cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "exporters/common/exporter.h"

struct archive;

namespace fathom::exporters {

class ArchiveFile {
 public:
  enum class Format { kTar, kTarGz, kStoredZip };  // stored: not compressed, as NumPy maps it

  base::Status open(const std::string& path, const Options& options, Format format);
  base::Status add(const std::string& name, std::string_view bytes);
  base::Status commit();

 private:
  struct Free {
    void operator()(archive* writer) const;
  };

  base::Status checked(int result) const;

  base::AtomicFile file_;  // outlives the writer, which may still write when it is freed
  std::unique_ptr<archive, Free> writer_;
  Format format_ = Format::kTar;
};

}  // namespace fathom::exporters
