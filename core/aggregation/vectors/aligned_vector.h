#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace aflguard {

/// Starts every allocation on a cache line, which streaming stores and wide loads want, and long ones on a
/// page: vectors that are read and written in step then never meet at addresses that differ by a multiple of
/// 4096, which processors take for a dependency.
template <typename T>
struct PassAllocator {
  using value_type = T;
  PassAllocator() = default;
  template <typename U>
  PassAllocator(const PassAllocator<U>& /*other*/) {}  // NOLINT: rebinding is implicit

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment(count)));
  }
  void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }
  friend bool operator==(const PassAllocator&, const PassAllocator&) { return true; }

 private:
  static std::align_val_t alignment(std::size_t count) {
    return std::align_val_t{count * sizeof(T) >= 2048 ? 4096U : 64U};
  }
};

using AlignedFloats = std::vector<float, PassAllocator<float>>;

}  // namespace aflguard
