#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace aflguard {

/// What the numeric code is compiled for, more than once in one program. Each contains those before it.
enum class InstructionSet : std::uint8_t {
  kBaseline,  ///< what every processor of the architecture has: SSE2, or NEON
  kAvx2,      ///< with FMA
  kAvx512,    ///< F, VL, DQ and BW
};

/// "baseline", "avx2", "avx512".
[[nodiscard]] const char* instruction_set_name(InstructionSet set);

/// The widest that this processor can run.
[[nodiscard]] InstructionSet widest_instruction_set();

/// What AFLGUARD_KERNELS names, or the widest where it is not set, or names what cannot be run here: a
/// program that cares asks check_instruction_set() when it starts. Asked once per process.
[[nodiscard]] InstructionSet chosen_instruction_set();

/// kInvalidInput when AFLGUARD_KERNELS is set to something that is not a name or that this processor cannot
/// run.
[[nodiscard]] Status check_instruction_set();

/// The same for a given value of the variable; for tests. Null: not set.
[[nodiscard]] Result<InstructionSet> instruction_set_of(const char* name);

}  // namespace aflguard
