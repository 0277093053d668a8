// SPDX-License-Identifier: BSD-3-Clause
// What programs see of the library: everything else is hidden (-fvisibility=hidden, exports.map).
#pragma once

#define FATHOM_EXPORT __attribute__((visibility("default")))
