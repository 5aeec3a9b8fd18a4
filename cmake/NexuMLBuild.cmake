# How every target of this tree is compiled: language level, warnings, output folders, ccache, unity batches.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree has the layout of an installed prefix, so that a host finds its libraries the same way in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(NEXUML_COMPONENTS_DIR "${CMAKE_BINARY_DIR}/lib/nexuml/components")

# One -fPIC for programs and libraries alike: the precompiled header is accepted only where the flags agree.
add_compile_options(-fPIC -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Winvalid-pch)
# Scenario code names the fields it sets and leaves the others to their defaults.
add_compile_options(-Wno-missing-field-initializers)
if(NEXUML_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these from inside inlined standard containers at -O2.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict)
endif()
if(WIN32)
  # Classes with inline members are exported whole; what is inline needs no import.
  add_compile_options(-Wno-attributes)
endif()
# No path of the building machine in a binary.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
add_link_options(-Wl,--as-needed)

if(NEXUML_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In a batch, GCC takes a source for a header, where a member of a file-local type would be a mistake.
    add_compile_options(-Wno-subobject-linkage)
  endif()
endif()

find_program(NEXUML_CCACHE ccache)
if(NEXUML_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header carries times and macros that ccache would otherwise refuse to ignore; being large, it is hashed
  # once for each state of its file.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1
      "${NEXUML_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# nexuml_room_sources(<variable> <folder>...): the .cpp files of some folders; a folder that is not there adds none.
function(nexuml_room_sources variable)
  set(sources)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  # A source for one system says so in its name.
  if(WIN32)
    list(FILTER sources EXCLUDE REGEX "_posix\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_windows\\.cpp$")
  endif()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# One precompiled header for everything that includes LibTorch. Compiling a file takes 4 to 5 s with it, 17 s without.
function(nexuml_create_torch_pch)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/nexuml_pch.cpp" CONTENT "// Carries the precompiled header.\n")
  add_library(nexuml-pch OBJECT "${CMAKE_BINARY_DIR}/nexuml_pch.cpp")
  target_link_libraries(nexuml-pch PRIVATE LibTorch::torch nexuml-private-dependencies)
  # LibTorch's include folder holds a newer fmt than the system's, without its library.
  target_compile_definitions(nexuml-pch PRIVATE FMT_HEADER_ONLY)
  target_precompile_headers(nexuml-pch PRIVATE <torch/types.h> <torch/nn/module.h>)
  set_target_properties(nexuml-pch PROPERTIES UNITY_BUILD OFF)
endfunction()

# nexuml_reuse_torch_pch(<target>): only inside this tree; a stranger's library builds without it.
function(nexuml_reuse_torch_pch target)
  if(TARGET nexuml-pch)
    target_link_libraries(${target} PRIVATE nexuml-private-dependencies)
    target_compile_definitions(${target} PRIVATE FMT_HEADER_ONLY)
    target_precompile_headers(${target} REUSE_FROM nexuml-pch)
  endif()
endfunction()
