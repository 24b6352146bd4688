#include "core/kernels/instruction_set.h"

#include <cstdlib>
#include <string>

namespace aflguard {
namespace {

constexpr const char* kVariable = "AFLGUARD_KERNELS";
constexpr InstructionSet kAll[] = {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512};

std::string runnable_names() {
  std::string names;
  for (const InstructionSet set : kAll) {
    if (set > widest_instruction_set()) break;
    names += std::string(names.empty() ? "" : ", ") + instruction_set_name(set);
  }
  return names;
}

}  // namespace

const char* instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx512:
      return "avx512";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kBaseline:
      break;
  }
  return "baseline";
}

InstructionSet widest_instruction_set() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return avx2 && avx512 ? InstructionSet::kAvx512 : avx2 ? InstructionSet::kAvx2 : InstructionSet::kBaseline;
#else
  return InstructionSet::kBaseline;
#endif
}

Result<InstructionSet> instruction_set_of(const char* name) {
  if (name == nullptr || *name == '\0') return widest_instruction_set();
  for (const InstructionSet set : kAll) {
    if (std::string(name) != instruction_set_name(set)) continue;
    if (set <= widest_instruction_set()) return set;
    return invalid_input(std::string(kVariable) + " is " + name +
                         ", which this processor cannot run; it runs " + runnable_names() +
                         ", and without the variable the last of them");
  }
  return invalid_input(std::string(kVariable) + " is '" + name +
                       "', which is not a variant; this processor runs " + runnable_names() +
                       ", and without the variable the last of them");
}

InstructionSet chosen_instruction_set() {
  static const InstructionSet chosen = [] {
    const auto named = instruction_set_of(std::getenv(kVariable));
    return named.ok() ? *named : widest_instruction_set();
  }();
  return chosen;
}

Status check_instruction_set() {
  TRY([[maybe_unused]] const InstructionSet named, instruction_set_of(std::getenv(kVariable)));
  return {};
}

}  // namespace aflguard
