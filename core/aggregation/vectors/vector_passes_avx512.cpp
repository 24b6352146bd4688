#if defined(__x86_64__)
#define AFLGUARD_PASSES kAvx512Passes
#include "core/aggregation/vectors/vector_passes.inc"
#endif
