// SPDX-License-Identifier: BSD-3-Clause
// The format otf2 where Fathom was built without the OTF2 library.
#include "exporters/trace/otf2.h"

namespace fathom::exporters {

base::Status export_otf2(const trace::Trace&, const TraceOptions&, const std::string&, Notes&) {
  return base::Error{
      "this Fathom was built without OTF2; meson configure build -Dotf2=enabled adds it"};
}

}  // namespace fathom::exporters
