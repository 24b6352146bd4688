#define AFLGUARD_PASSES kBaselinePasses
#include "core/aggregation/vector_passes.inc"
