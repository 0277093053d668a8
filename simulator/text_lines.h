// Text files of any origin, whole in memory: what the importers of clusters read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::simulator {

// The whole file. An Error says why it cannot be read.
base::Result<std::string> read_text(const std::string& path);

// Blanks at both ends removed.
std::string_view trimmed(std::string_view text);

// The parts between `separator`s, trimmed, empty ones kept.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fathom::simulator
