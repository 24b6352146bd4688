# OnnxRuntime::Headers: headers only; programs load the library itself when they run.
include(FindPackageHandleStandardArgs)
file(GLOB unpacked "${AFLGUARD_CACHE_DIR}/onnxruntime-headers-*/usr/include/onnxruntime")
find_path(OnnxRuntimeHeaders_INCLUDE_DIR onnxruntime_c_api.h HINTS ${unpacked} PATHS /usr/include/onnxruntime
  NO_CMAKE_FIND_ROOT_PATH)
find_package_handle_standard_args(OnnxRuntimeHeaders REQUIRED_VARS OnnxRuntimeHeaders_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run ./run setup, which keeps them in ${AFLGUARD_CACHE_DIR}")
if(OnnxRuntimeHeaders_FOUND AND NOT TARGET OnnxRuntime::Headers)
  add_library(OnnxRuntime::Headers INTERFACE IMPORTED)
  set_target_properties(OnnxRuntime::Headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OnnxRuntimeHeaders_INCLUDE_DIR}")
endif()
