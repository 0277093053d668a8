// SPDX-License-Identifier: BSD-3-Clause
// The commit that Fathom was built from.
#pragma once

namespace fathom::base {

// "5d4faa01dbd9"; with "-dirty" if files had been changed, "unknown" outside of a clone.
extern const char kCommit[];

}  // namespace fathom::base
