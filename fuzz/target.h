#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace aflguard {

/// libFuzzer's input as the code under test takes it.
inline std::span<const std::byte> fuzz_input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace aflguard

/// What libFuzzer and replay.cpp call with one input. Returns 0; a broken promise aborts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
