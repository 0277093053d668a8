// SPDX-License-Identifier: BSD-3-Clause
// The format otf2 where Fathom was built without the OTF2 library.
#include "importers/otf2.h"

namespace fathom::importers {

base::Status import_otf2(const std::string&, const std::string&, std::vector<std::string>&) {
  return base::Error{
      "this Fathom was built without OTF2; meson configure build -Dotf2=enabled adds it"};
}

}  // namespace fathom::importers
