#pragma once

#include <cstddef>

namespace aflguard {

/// Resident memory of this process in megabytes; 0 when the system does not say.
[[nodiscard]] double resident_megabytes();

/// Memory of the machine; 0 when the system does not say.
[[nodiscard]] std::size_t machine_memory_bytes();

/// Gives back the memory of pages that can be read from their files again: code and constants of this program
/// and its libraries. Much of them serves a start and never again. What is used later is mapped again page by
/// page, from the kernel's cache of files while memory suffices. A mapping with a page that was changed, as
/// relocations or a debugger's breakpoints do, stays as it is. Returns the bytes given back; 0 where the
/// system does not tell.
std::size_t release_file_pages();

}  // namespace aflguard
