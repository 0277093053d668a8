// SPDX-License-Identifier: BSD-3-Clause
#include "importers/importer.h"

#include <filesystem>

#include "base/named_rows.h"
#include "importers/mpic.h"
#include "importers/otf2.h"
#include "importers/pfprof.h"

namespace fathom::importers {
namespace {

namespace fs = std::filesystem;

constexpr Importer kImporters[] = {
    {"otf2", "a trace: an OTF2 archive (EZTrace, Score-P, Fathom)", ".otf2", nullptr, import_otf2},
    {"mpic", "a trace: Pyrite's PMPI tracer", ".mpic", nullptr, import_mpic},
    {"pfprof", "a profile: PFProf, the PERUSE profiler, as files or archive", "", import_pfprof,
     nullptr},
};

bool claims(const Importer& row, const fs::path& path) {
  return row.ending[0] == '\0' || path.extension() == row.ending;
}

bool claims_a_file(const Importer& row, const fs::path& folder) {
  std::error_code ignored;  // for a plain file there are no entries
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (claims(row, entry.path())) return true;
  }
  return false;
}

}  // namespace

std::span<const Importer> all() { return kImporters; }

base::Result<const Importer*> find(std::string_view name) {
  return base::find_row(all(), "format", name);
}

const Importer& detect(const std::string& path) {
  for (const Importer& row : kImporters) {
    if (claims(row, path) || claims_a_file(row, path)) return row;
  }
  return kImporters[std::size(kImporters) - 1];
}

}  // namespace fathom::importers
