#if defined(__x86_64__)
#define AFLGUARD_PASSES kAvx512SpanPasses
#include "core/aggregation/vectors/span_passes.inc"
#endif
