# MbedTLS::X509: certificates and the cryptography below them, as archives. They go into the programs, because the
# versions of Debian 12 and 13 do not fit each other.
include(FindPackageHandleStandardArgs)
find_path(MbedTLS_INCLUDE_DIR mbedtls/x509_crt.h)
find_library(MbedTLS_X509_LIBRARY NAMES libmbedx509.a mbedx509)
find_library(MbedTLS_CRYPTO_LIBRARY NAMES libmbedcrypto.a mbedcrypto)
find_package_handle_standard_args(MbedTLS REQUIRED_VARS MbedTLS_X509_LIBRARY MbedTLS_CRYPTO_LIBRARY MbedTLS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run ./run setup, or install libmbedtls-dev")
if(MbedTLS_FOUND AND NOT TARGET MbedTLS::X509)
  add_library(MbedTLS::X509 UNKNOWN IMPORTED)
  set_target_properties(MbedTLS::X509 PROPERTIES IMPORTED_LOCATION "${MbedTLS_X509_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "${MbedTLS_CRYPTO_LIBRARY}")
endif()
