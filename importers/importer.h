// SPDX-License-Identifier: BSD-3-Clause
// What all import formats have in common, and the formats. How to add one:
// docs/adding-an-importer.md.
//
// An importer reads what another tool wrote. Any bytes are safe: damage ends the import with an
// Error or a note, and what comes before the damage is kept where the format allows it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::importers {

// Sentences for the user about what was left out because a run has no place for it.
using Notes = std::vector<std::string>;

// Reads a profile or a trace; the other function is null.
struct Importer {
  const char* name;  // as in `fathom import --format NAME`
  const char* help;  // one line
  // The ending, with the dot, of files in this format: of the input, or of a file in the input
  // folder. Empty: any input that no other format claims.
  const char* ending;
  base::Result<profile::Profile> (*read_profile)(const std::string& path);
  // Makes `run_directory`/trace.
  base::Status (*read_trace)(const std::string& path, const std::string& run_directory,
                             Notes& notes);
};

std::span<const Importer> all();

// An Error lists the known names.
base::Result<const Importer*> find(std::string_view name);

// The format that the name of the input, or of a file in it, indicates.
const Importer& detect(const std::string& path);

}  // namespace fathom::importers
