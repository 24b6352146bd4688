# OnnxProto::OnnxProto: the ONNX file format on protobuf. Only models/ may link it.
include(FindPackageHandleStandardArgs)
find_package(Protobuf REQUIRED)
# Debian's packages for two architectures exclude each other, so a cross build has its own unpacked in the cache.
file(GLOB unpacked "${AFLGUARD_CACHE_DIR}/arm64-onnx-*/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
find_library(OnnxProto_ONNX_LIBRARY onnx HINTS ${unpacked})
find_library(OnnxProto_LIBRARY onnx_proto HINTS ${unpacked})
find_package_handle_standard_args(OnnxProto REQUIRED_VARS OnnxProto_LIBRARY OnnxProto_ONNX_LIBRARY
  REASON_FAILURE_MESSAGE "run ./run setup, or install libonnx-dev")
if(OnnxProto_FOUND AND NOT TARGET OnnxProto::OnnxProto)
  add_library(OnnxProto::OnnxProto INTERFACE IMPORTED)
  set_target_properties(OnnxProto::OnnxProto PROPERTIES INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
    INTERFACE_LINK_LIBRARIES "${OnnxProto_ONNX_LIBRARY};${OnnxProto_LIBRARY};protobuf::libprotobuf")
endif()
