#define AFLGUARD_PASSES kBaselineSpanPasses
#include "core/aggregation/vectors/span_passes.inc"
