# Every option of the build, in one place.
option(AFLGUARD_TESTS "Build the tests" ON)
option(AFLGUARD_FUZZER "Build the fuzz targets as libFuzzer programs (clang) instead of corpus replays" OFF)
option(AFLGUARD_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" ON)
set(AFLGUARD_TEST_PREFIX "" CACHE STRING "Put before the name of every test, e.g. arm64.")
set(AFLGUARD_ONLY_TESTS "" CACHE STRING "A label: only tests that carry it are built (target tests.chosen) and known to ctest: board (quick, of what
    boards run), device (everything that boards run), threads")
set(AFLGUARD_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(AFLGUARD_CACHE_DIR "$ENV{HOME}/.cache/aflguard" CACHE PATH "Where ./run setup keeps pinned downloads")

# A package of one component needs only its own programs built.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(AFLGUARD_CCACHE ccache)
if(AFLGUARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${AFLGUARD_CCACHE}")
endif()
