# `cmake --install build/release --prefix /usr/local`: programs, their private ONNX Runtime, and systemd units.
include(GNUInstallDirs)
install(TARGETS aflguard aflguard-client aflguard-gateway aflguard-byzantine-client
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
get_filename_component(installed_onnxruntime "${CMAKE_BINARY_DIR}/lib/aflguard/libonnxruntime.so.1" REALPATH)
install(FILES "${installed_onnxruntime}" DESTINATION lib/aflguard RENAME libonnxruntime.so.1 OPTIONAL)

# The units name programs by their full path, which is known when they are installed.
foreach(unit aflguard-client.service aflguard-gateway.service)
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/packaging/systemd/${unit}\" text)
    string(REPLACE \"/usr/bin/\" \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" text \"\${text}\")
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${unit}\" \"\${text}\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${unit}\")")
endforeach()
install(FILES packaging/systemd/mosquitto.service.d/aflguard.conf
        DESTINATION lib/systemd/system/mosquitto.service.d)
install(FILES packaging/systemd/aflguard.sysusers.conf DESTINATION lib/sysusers.d RENAME aflguard.conf)
