# Cross build for 64-bit ARM boards with Debian's multiarch packages (g++-aarch64-linux-gnu, *-dev:arm64).
# There is no 32-bit ARM target: ONNX Runtime is not built for it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Debian keeps arm64 libraries in /usr/lib/aarch64-linux-gnu beside the host's; this makes CMake look there.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -cpu cortex-a72)
