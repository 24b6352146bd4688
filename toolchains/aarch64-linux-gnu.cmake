# Cross build for 64-bit ARM boards with Debian's multiarch packages (g++-aarch64-linux-gnu, *-dev:arm64).
# There is no 32-bit ARM target: ONNX Runtime is not built for it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Debian keeps arm64 libraries in /usr/lib/aarch64-linux-gnu beside the host's; this makes CMake look there.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# FindOpenSSL and others ask pkg-config, which would answer for the host.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Tests run under QEMU's user mode. Its default processor is many times slower than this one, and `-L` with the cross
# compiler's libc lets threaded programs hang: multiarch libraries need none.
find_program(AFLGUARD_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
if(AFLGUARD_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${AFLGUARD_QEMU_AARCH64} -cpu cortex-a72)
endif()
