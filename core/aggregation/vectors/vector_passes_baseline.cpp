#define AFLGUARD_PASSES kBaselinePasses
#include "core/aggregation/vectors/vector_passes.inc"
