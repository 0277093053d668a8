// SPDX-License-Identifier: BSD-3-Clause
// Marks what programs see of the library; all else is hidden (-fvisibility=hidden, exports.map).
#pragma once

#define FATHOM_EXPORT __attribute__((visibility("default")))
