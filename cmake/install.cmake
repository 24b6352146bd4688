# `cmake --install build/release --prefix /usr/local`, and what goes into the packages client, gateway and tools.
include(GNUInstallDirs)
include(cmake/private_library.cmake)

aflguard_install_programs(client aflguard-client)
aflguard_install_programs(gateway aflguard-gateway)
aflguard_install_programs(tools aflguard aflguard-byzantine-client aflguard-bench-peer aflguard-train-probe)

# Each package is complete: a board needs one file, and no package depends on another one's version.
get_filename_component(installed_onnxruntime "${CMAKE_BINARY_DIR}/lib/aflguard/libonnxruntime.so.1" REALPATH)
find_library(PAHO_C_LIBRARY paho-mqtt3as REQUIRED)
find_library(PAHO_CPP_LIBRARY paho-mqttpp3 REQUIRED)
foreach(component client gateway tools)
  if(EXISTS "${installed_onnxruntime}")
    aflguard_install_private("${installed_onnxruntime}" ${component})
  endif()
  aflguard_install_private("${PAHO_CPP_LIBRARY}" ${component})
  aflguard_install_private("${PAHO_C_LIBRARY}" ${component})
  aflguard_install_private("${Libcbor_LIBRARY}" ${component})
endforeach()
aflguard_install_private("${OnnxProto_ONNX_LIBRARY}" tools)
aflguard_install_private("${OnnxProto_LIBRARY}" tools)
aflguard_install_private("${Protobuf_LIBRARY}" tools)
# The dashboard's page, where it was built (./run dashboard).
install(FILES "${CMAKE_BINARY_DIR}/../dashboard/index.html" DESTINATION share/aflguard/dashboard COMPONENT tools OPTIONAL)

# The units name programs by their full path, which is known when they are installed.
function(aflguard_install_unit unit component)
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/packaging/systemd/${unit}\" text)
    string(REPLACE \"=/usr/bin/aflguard\" \"=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/aflguard\" text \"\${text}\")
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${unit}\" \"\${text}\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${unit}\")"
    COMPONENT ${component})
endfunction()
aflguard_install_unit(aflguard-client.service client)
# Boards take their identity from their boot partition (docs/flash-a-fleet.md).
install(PROGRAMS packaging/board/take-identity packaging/board/advance-clock DESTINATION lib/aflguard COMPONENT client)
install(FILES packaging/systemd/aflguard-identity.service packaging/systemd/aflguard-clock.service
              packaging/systemd/aflguard-clock.timer DESTINATION lib/systemd/system COMPONENT client)
aflguard_install_unit(aflguard-gateway.service gateway)
aflguard_install_unit(aflguard-broker.service gateway)
foreach(component client gateway)
  install(FILES packaging/systemd/aflguard.sysusers.conf DESTINATION lib/sysusers.d
          RENAME aflguard-${component}.conf COMPONENT ${component})
endforeach()

install(FILES edge_client/client.example.toml DESTINATION share/doc/aflguard-client/examples COMPONENT client)
install(FILES gateway_server/gateway.example.toml DESTINATION share/doc/aflguard-gateway/examples COMPONENT gateway)

include(cmake/packages.cmake)
