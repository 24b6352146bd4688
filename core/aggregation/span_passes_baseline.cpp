#define AFLGUARD_PASSES kBaselineSpanPasses
#include "core/aggregation/span_passes.inc"
