// SPDX-License-Identifier: BSD-3-Clause
// What libfathom.so does with each message besides counting it: notes when it was sent and which
// call completed it. The include path chooses between this file, the one of libfathom-trace.so
// (recording/events/) and that of libfathom-count.so (counting/events/).
#pragma once

#include "profiler/counting/no_recording.h"
#include "profiler/waits/message_waits.h"
