#include "exporters/registry.h"

#include <algorithm>
#include <iterator>

#include "exporters/csv.h"

namespace fathom::exporters {
namespace {

constexpr Exporter kExporters[] = {
    {"csv", "one line for each pair, class, communicator and phase", ".csv", export_csv},
};

}  // namespace

std::span<const Exporter> all() { return kExporters; }

const Exporter* find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kExporters), std::end(kExporters),
                                   [&](const Exporter& row) { return row.name == name; });
  return found == std::end(kExporters) ? nullptr : found;
}

}  // namespace fathom::exporters
