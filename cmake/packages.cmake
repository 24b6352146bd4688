# `./run package`: Debian packages with CPack, one per component. Everything that only a package has is in packaging/debian
# and in the folder that packaging/make_manuals.py filled.
set(AFLGUARD_MANUALS "${CMAKE_BINARY_DIR}/manuals" CACHE PATH "Where packaging/make_manuals.py wrote man pages and completions")
if(NOT IS_DIRECTORY "${AFLGUARD_MANUALS}/man")
  return()
endif()

function(aflguard_install_manuals component)
  foreach(pattern ${ARGN})
    file(GLOB pages "${AFLGUARD_MANUALS}/man/${pattern}.gz")
    foreach(page ${pages})
      string(REGEX MATCH "\\.([0-9])\\.gz$" ignored "${page}")
      install(FILES "${page}" DESTINATION share/man/man${CMAKE_MATCH_1} COMPONENT ${component})
    endforeach()
  endforeach()
endfunction()
aflguard_install_manuals(client aflguard-client.8 aflguard-client.toml.5)
aflguard_install_manuals(gateway aflguard-gateway.8 aflguard-gateway.toml.5)
aflguard_install_manuals(tools *.1)
install(FILES "${AFLGUARD_MANUALS}/completions/aflguard-client" DESTINATION share/bash-completion/completions COMPONENT client)
install(FILES "${AFLGUARD_MANUALS}/completions/aflguard-gateway" DESTINATION share/bash-completion/completions COMPONENT gateway)
install(FILES "${AFLGUARD_MANUALS}/completions/aflguard" "${AFLGUARD_MANUALS}/completions/aflguard-byzantine-client"
        DESTINATION share/bash-completion/completions COMPONENT tools)

foreach(component client gateway tools)
  set(package aflguard-${component})
  install(FILES packaging/debian/copyright DESTINATION share/doc/${package} COMPONENT ${component})
  install(FILES "${AFLGUARD_MANUALS}/changelog.gz" DESTINATION share/doc/${package} COMPONENT ${component})
  if(EXISTS "${PROJECT_SOURCE_DIR}/packaging/debian/${component}/lintian-overrides")
    install(FILES packaging/debian/${component}/lintian-overrides DESTINATION share/lintian/overrides RENAME ${package}
            COMPONENT ${component})
  endif()
endforeach()
install(FILES docs/edge-client.md docs/operate.md docs/packages.md docs/troubleshooting.md DESTINATION share/doc/aflguard-client COMPONENT client)
install(FILES docs/operate.md docs/gateway.md docs/packages.md docs/topics.md docs/troubleshooting.md DESTINATION share/doc/aflguard-gateway COMPONENT gateway)
install(FILES docs/models.md docs/data.md docs/lab.md DESTINATION share/doc/aflguard-tools COMPONENT tools)
install(FILES packaging/debian/gateway/gateway.env DESTINATION /etc/aflguard COMPONENT gateway)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME aflguard)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_SET_DESTDIR ON)  # some files go to /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL client gateway tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # Debian 12's dpkg has no zstd in its minimal system tools
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "AFLGuard Edge maintainers <maintainers@aflguard.invalid>")
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
# Reads what each program links, and names the packages that have it; private libraries are our own.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/private-libraries")

set(packaging "${PROJECT_SOURCE_DIR}/packaging/debian")
set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME aflguard-client)
set(CPACK_DEBIAN_CLIENT_DESCRIPTION "device of a fleet that learns together, robust against malicious members
The client trains a model on the samples of this device with ONNX Runtime and
sends signed updates to the fleet's gateway over MQTT with TLS. Samples never
leave the device. It runs as a confined systemd service.
.
ONNX Runtime, Paho MQTT and libcbor are included for the client's own use.")
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54)")
set(CPACK_DEBIAN_CLIENT_PACKAGE_CONTROL_EXTRA "${packaging}/client/postinst;${packaging}/client/prerm;${packaging}/client/postrm")

set(CPACK_DEBIAN_GATEWAY_PACKAGE_NAME aflguard-gateway)
set(CPACK_DEBIAN_GATEWAY_DESCRIPTION "gateway that judges the updates of a learning fleet
The gateway judges every model update of a fleet of devices with the AFLGuard
rule and a small trusted data set, applies what it accepts, and hands the new
model back. It runs as a confined systemd service beside an MQTT broker.
.
ONNX Runtime, Paho MQTT and libcbor are included for the gateway's own use.")
set(CPACK_DEBIAN_GATEWAY_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54)")
set(CPACK_DEBIAN_GATEWAY_PACKAGE_RECOMMENDS "aflguard-tools, mosquitto")
set(CPACK_DEBIAN_GATEWAY_PACKAGE_SUGGESTS "sqlite3")
set(CPACK_DEBIAN_GATEWAY_PACKAGE_CONTROL_EXTRA
    "${packaging}/gateway/postinst;${packaging}/gateway/prerm;${packaging}/gateway/postrm;${packaging}/gateway/conffiles")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME aflguard-tools)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "commands for a learning fleet and its experiments
The command aflguard provisions and watches a fleet, makes trainable packages
of ONNX models, and repeats published experiments on robust asynchronous
federated learning. Also here: a client that lies, to try a guard with.
.
ONNX Runtime, ONNX, protobuf, Paho MQTT and libcbor are included for its own
use.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "aflguard-client, aflguard-gateway, mosquitto")

include(CPack)
