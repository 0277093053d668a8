// What every export format has in common. How to add one: docs/adding-an-exporter.md.
//
// Exporters format and nothing else; what is summed and how is profile/matrix.h's business. Output
// appears whole or not at all, and text is the same in every locale.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::exporters {

enum class Metric { kBytes, kMessages };

struct Options {
  profile::Selection selection;
  Metric metric = Metric::kBytes;  // for formats that hold one number for each pair
  bool force = false;              // replace an output that is there; otherwise that is an Error
};

// Sentences for the user about what the format cannot hold and what was done instead.
using Notes = std::vector<std::string>;

struct Exporter {
  const char* name;       // as in `fathom export --to NAME`
  const char* help;       // one line
  const char* extension;  // of the usual output, with the dot; empty for a folder
  base::Status (*write)(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes& notes);
};

}  // namespace fathom::exporters
