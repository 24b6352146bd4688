# Unity_SOURCE_DIR: the folder with unity.c, which the tests compile as C++ (tests/support/unity_as_cpp.cpp says why).
include(FindPackageHandleStandardArgs)
file(GLOB unpacked "${AFLGUARD_CACHE_DIR}/unity-*/usr/share/cmock/vendor/unity/src")
find_path(Unity_SOURCE_DIR unity.c HINTS ${unpacked} PATHS /usr/share/cmock/vendor/unity/src NO_CMAKE_FIND_ROOT_PATH)
find_package_handle_standard_args(Unity REQUIRED_VARS Unity_SOURCE_DIR
  REASON_FAILURE_MESSAGE "run ./run setup, which keeps it in ${AFLGUARD_CACHE_DIR}")
