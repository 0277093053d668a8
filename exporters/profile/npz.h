// SPDX-License-Identifier: BSD-3-Clause
// NumPy .npz with a sparse matrix in CSR form, as scipy.sparse.load_npz() reads it: row = source,
// column = destination, `data` = bytes or messages, depending on the options.
//
// The arrays `bytes` and `messages` are included in the same order as `data`, so that one file
// holds both matrices. The zip entries are stored, not compressed.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_npz(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes& notes);

}  // namespace fathom::exporters
