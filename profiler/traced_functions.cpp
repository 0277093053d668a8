#include "profiler/traced_functions.h"

namespace fathom::profiler {

// Messages and transfers only: no call is recorded yet.
const std::uint32_t kTracedFunctionCount = 0;
const char* const kTracedFunctionNames[] = {nullptr};
const char kTracedFunctionLines[] = "";

}  // namespace fathom::profiler
