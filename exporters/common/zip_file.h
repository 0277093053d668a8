// SPDX-License-Identifier: BSD-3-Clause
// A zip archive of stored (uncompressed) entries, written through an AtomicFile.
//
//   for each entry   local header: signature, version, flags, method 0, time, CRC-32, sizes, name;
//                    then the bytes
//   at the end       central directory: the same for each entry, with its offset; end record
//
// The layout is that of PKWARE's APPNOTE 4.3.7, 4.3.12 and 4.3.16 without the 64-bit extension: an
// archive of 4 GiB or more is an Error. Times are fixed, so that the same input gives the same
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "exporters/common/exporter.h"

namespace fathom::exporters {

class ZipFile {
 public:
  base::Status open(const std::string& path, const Options& options);
  void add(std::string_view name, std::string_view bytes);
  base::Status commit();

 private:
  std::string path_;
  base::AtomicFile file_;
  std::string central_directory_;
  unsigned entries_ = 0;
};

}  // namespace fathom::exporters
