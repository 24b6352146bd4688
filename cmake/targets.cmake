# How this project makes its targets.
add_library(aflguard_flags INTERFACE)
target_include_directories(aflguard_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(aflguard_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       # GCC 12 and 13 warn falsely on std::string operator+ (GCC bug 105651).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       # ... and, with a precompiled header, by three more names.
                       "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${CMAKE_DISABLE_PRECOMPILE_HEADERS}>>>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>"
                       $<$<BOOL:${AFLGUARD_WARNINGS_AS_ERRORS}>:-Werror>)
# What a dozen sources of a room include is read and instantiated once for all of them (CMAKE_UNITY_BUILD; the presets release,
# asan and arm64 have it), except in hot rooms, whose code must not depend on its neighbours. GCC then takes anonymous
# namespaces for a header's.
if(CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
  target_compile_options(aflguard_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(AFLGUARD_SANITIZE)
  target_compile_options(aflguard_flags INTERFACE -fsanitize=${AFLGUARD_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(aflguard_flags INTERFACE -fsanitize=${AFLGUARD_SANITIZE})
endif()

# Most code reads command lines, builds graphs, writes files or tests: -O3 gives it nothing but a third of the build's time.
# Tests run for milliseconds, and what they test is optimised as users get it.
# With a sanitizer's checks in it, the optimiser needs three times as long for such a file as without it.
set(AFLGUARD_LEVEL_cold -O1)
set(AFLGUARD_LEVEL_test -O0)
if(AFLGUARD_SANITIZE AND NOT AFLGUARD_FUZZER)
  set(AFLGUARD_LEVEL_cold -O0)
endif()
# aflguard_compile_at(LEVEL TARGET): LEVEL is cold or test.
function(aflguard_compile_at level target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:${AFLGUARD_LEVEL_${level}}>
                         -fPIC)  # as the precompiled header, or it does not fit
  target_precompile_headers(${target} REUSE_FROM aflguard_precompiled_${level})
endfunction()

# Half of a source's compile time is reading the standard library, so it is read once per optimisation level.
foreach(level hot cold test)
  add_library(aflguard_precompiled_${level} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled/empty.cpp")
  target_link_libraries(aflguard_precompiled_${level} PRIVATE aflguard_flags Threads::Threads)
  target_precompile_headers(aflguard_precompiled_${level} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/standard_library.h")
  if(DEFINED AFLGUARD_LEVEL_${level})
    target_compile_options(aflguard_precompiled_${level} PRIVATE $<$<NOT:$<CONFIG:Debug>>:${AFLGUARD_LEVEL_${level}}>)
  endif()
endforeach()

# aflguard_module([NAME] [HOT | OWN_FLAGS] SOURCES ... LINKS ... [PRIVATE_LINKS ...]): one static library per room. Its name is the
# folder's with dots, core/base -> aflguard::core.base, unless NAME says otherwise.
# HOT: touches every byte or number of an update, a model or a sample, so it is worth the optimiser's time. OWN_FLAGS: hot, and
# some of its sources have their own flags, which a precompiled header does not allow.
function(aflguard_module)
  cmake_parse_arguments(arg "HOT;OWN_FLAGS" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(name "${arg_UNPARSED_ARGUMENTS}")
  if(NOT name)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
    string(REPLACE "/" "." name "${name}")
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  add_library(aflguard::${name} ALIAS ${name})
  if(arg_HOT OR arg_OWN_FLAGS)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(arg_HOT)
    target_precompile_headers(${name} REUSE_FROM aflguard_precompiled_hot)
  elseif(NOT arg_OWN_FLAGS)
    aflguard_compile_at(cold ${name})
  endif()
  target_link_libraries(${name} PUBLIC aflguard_flags ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
endfunction()

# aflguard_program(NAME SOURCES ... LINKS ...): a main.cpp that joins rooms; what it does for long is in them.
function(aflguard_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE aflguard_flags ${arg_LINKS})
  aflguard_compile_at(cold ${name})
endfunction()

# aflguard_listed_sources(VARIABLE LIST): x.cpp for every line NAME(x) of a list of plug-ins. The C++ source beside the list
# includes it, so that a plug-in is one file and one line; a changed list configures again.
function(aflguard_listed_sources variable list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${list}")
  file(STRINGS "${list}" sources REGEX "^[A-Z]+\\([a-z0-9_]+\\)$")
  list(TRANSFORM sources REPLACE "^[A-Z]+\\((.*)\\)$" "\\1.cpp")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
