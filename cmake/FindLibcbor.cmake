# Libcbor::Libcbor: Debian's package brings no file that CMake could read.
include(FindPackageHandleStandardArgs)
find_path(Libcbor_INCLUDE_DIR cbor.h)
find_library(Libcbor_LIBRARY cbor)
find_package_handle_standard_args(Libcbor REQUIRED_VARS Libcbor_LIBRARY Libcbor_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run ./run setup, or install libcbor-dev")
if(Libcbor_FOUND AND NOT TARGET Libcbor::Libcbor)
  add_library(Libcbor::Libcbor UNKNOWN IMPORTED)
  set_target_properties(Libcbor::Libcbor PROPERTIES IMPORTED_LOCATION "${Libcbor_LIBRARY}")
endif()
