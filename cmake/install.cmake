# How targets are installed: `cmake --install build/release --prefix /usr/local`, and what goes into the packages client,
# gateway and tools. Included before the rooms, whose install rules stand beside their targets.
include(GNUInstallDirs)
include(cmake/private_library.cmake)

find_library(PAHO_C_LIBRARY paho-mqtt3as REQUIRED)
find_library(PAHO_CPP_LIBRARY paho-mqttpp3 REQUIRED)

# aflguard_install_libraries(COMPONENT): what every component brings along. Each package is complete: a board needs one
# file, and no package depends on another one's version.
function(aflguard_install_libraries component)
  file(GLOB onnxruntime "${AFLGUARD_CACHE_DIR}/onnxruntime-*/${CMAKE_SYSTEM_PROCESSOR}/libonnxruntime.so.1")
  foreach(library ${onnxruntime} "${PAHO_CPP_LIBRARY}" "${PAHO_C_LIBRARY}" "${Libcbor_LIBRARY}")
    aflguard_install_private("${library}" ${component})
  endforeach()
endfunction()

# aflguard_install_units(COMPONENT UNIT...): units of packaging/systemd and the user that they run as. systemd finds their
# programs by name.
function(aflguard_install_units component)
  foreach(unit ${ARGN})
    install(FILES "${PROJECT_SOURCE_DIR}/packaging/systemd/${unit}" DESTINATION lib/systemd/system COMPONENT ${component})
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/systemd/aflguard.sysusers.conf" DESTINATION lib/sysusers.d
          RENAME aflguard-${component}.conf COMPONENT ${component})
endfunction()
