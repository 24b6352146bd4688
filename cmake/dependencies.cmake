# Every outside library, in one place. Modules link these names and nothing else.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(toml11 REQUIRED)  # 3.7 and 4 are both understood
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(PahoMqttCpp 1.2 REQUIRED)
find_package(SQLite3 3.35 REQUIRED)

# libcbor and Mbed TLS come without files that CMake could read.
find_library(LIBCBOR_LIBRARY cbor REQUIRED)
add_library(libcbor INTERFACE)
target_link_libraries(libcbor INTERFACE "${LIBCBOR_LIBRARY}")
# Mbed TLS goes into the programs: Debian 12 and 13 have versions that do not fit each other.
find_library(MBEDX509_ARCHIVE NAMES libmbedx509.a mbedx509 REQUIRED)
find_library(MBEDCRYPTO_ARCHIVE NAMES libmbedcrypto.a mbedcrypto REQUIRED)
add_library(mbedtls_crypto INTERFACE)
target_link_libraries(mbedtls_crypto INTERFACE "${MBEDX509_ARCHIVE}" "${MBEDCRYPTO_ARCHIVE}")

# ONNX Runtime: headers only; the library itself is loaded at run time.
add_library(onnxruntime_headers INTERFACE)
file(GLOB ort_include_dirs "${AFLGUARD_CACHE_DIR}/onnxruntime-headers-*/usr/include/onnxruntime"
     "/usr/include/onnxruntime")
list(GET ort_include_dirs 0 ort_include_dir)
target_include_directories(onnxruntime_headers SYSTEM INTERFACE "${ort_include_dir}")

# ONNX (protobuf): only models/ may link it.
find_package(Protobuf REQUIRED)
file(GLOB unpacked_onnx "${AFLGUARD_CACHE_DIR}/arm64-onnx-*/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
find_library(ONNX_LIBRARY onnx HINTS ${unpacked_onnx} REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto HINTS ${unpacked_onnx} REQUIRED)
add_library(onnx_protobuf INTERFACE)
target_link_libraries(onnx_protobuf INTERFACE "${ONNX_LIBRARY}" "${ONNX_PROTO_LIBRARY}" protobuf::libprotobuf)
target_compile_definitions(onnx_protobuf INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)

if(AFLGUARD_TESTS)
  file(GLOB unity_dirs "${AFLGUARD_CACHE_DIR}/unity-*/usr/share/cmock/vendor/unity/src"
       "/usr/share/cmock/vendor/unity/src")
  list(GET unity_dirs 0 UNITY_SOURCE_DIR)
endif()
