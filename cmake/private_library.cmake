file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/private-libraries")

# aflguard_install_private(LIBRARY COMPONENT): installs a copy of a shared library, under the name that the loader asks
# for, into the component's own folder lib/aflguard/COMPONENT. Its programs look there first (DT_RPATH), so one package
# runs on systems whose own version of that library is another one or missing.
function(aflguard_install_private library component)
  get_filename_component(file "${library}" REALPATH)
  execute_process(COMMAND ${CMAKE_READELF} -d "${file}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${file} has no soname that ${CMAKE_READELF} -d would show")
  endif()
  install(FILES "${file}" DESTINATION lib/aflguard/${component} RENAME "${CMAKE_MATCH_1}" COMPONENT ${component}
          PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  # Copies, because dpkg-shlibdeps would follow a link to the system's file, and depend on its package.
  file(COPY_FILE "${file}" "${CMAKE_BINARY_DIR}/private-libraries/${CMAKE_MATCH_1}" ONLY_IF_DIFFERENT)
endfunction()

# aflguard_install_programs(COMPONENT TARGET...): programs of a component, which find its private libraries.
# DT_RPATH, not DT_RUNPATH: it also holds for the libraries that a private library needs in turn. In the build tree, too:
# otherwise CMake keeps room for it with colons, which let a program take libraries from whatever folder it is started in.
# Not where a cross build's libraries lie in the cache: its programs must find them there until they are installed.
function(aflguard_install_programs component)
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/aflguard/${component}")
    if(NOT CMAKE_CROSSCOMPILING)
      set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
    endif()
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags -Wl,-z,relro -Wl,-z,now)
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${component})
  endforeach()
endfunction()
