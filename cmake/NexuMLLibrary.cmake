# nexuml_add_library(<target> ID <library id> VERSION <version> SOURCES <file>... [SCENARIOS <file.yaml>...])
#
#     find_package(NexuML CONFIG REQUIRED)
#     nexuml_add_library(acme_signal ID org.acme.signal VERSION 1.0.0 SOURCES src/library.cpp)
#
# Builds a component folder that can be dropped into a root: `<components>/<id>/lib<target>.so` and its scenarios. The
# shipped libraries are built by this same function. Everything but the entry symbol is hidden: two libraries may then
# define the same class name without meeting in one process.

set(NEXUML_LIBRARY_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/library.map")

function(nexuml_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ID;VERSION" "SOURCES;SCENARIOS")
  foreach(required ID VERSION SOURCES)
    if(NOT arg_${required})
      message(FATAL_ERROR "nexuml_add_library(${target}): ${required} is missing")
    endif()
  endforeach()
  if(NOT NEXUML_COMPONENTS_DIR)
    set(NEXUML_COMPONENTS_DIR "${CMAKE_BINARY_DIR}/components")
  endif()
  set(folder "${NEXUML_COMPONENTS_DIR}/${arg_ID}")

  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE NexuML::Runtime)
  target_compile_definitions(${target} PRIVATE
    "NEXUML_LIBRARY_ID=\"${arg_ID}\"" "NEXUML_LIBRARY_VERSION=\"${arg_VERSION}\"")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE
    "-Wl,--version-script=${NEXUML_LIBRARY_VERSION_SCRIPT}" -Wl,-z,now -Wl,--build-id=sha1)
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${folder}"
    LINK_DEPENDS "${NEXUML_LIBRARY_VERSION_SCRIPT}"
    INSTALL_RPATH "$ORIGIN"
    NEXUML_ID "${arg_ID}"
    NEXUML_VERSION "${arg_VERSION}"
    NEXUML_FOLDER "${folder}")

  foreach(scenario IN LISTS arg_SCENARIOS)
    cmake_path(ABSOLUTE_PATH scenario)
    cmake_path(GET scenario FILENAME name)
    add_custom_command(OUTPUT "${folder}/scenarios/${name}"
      COMMAND "${CMAKE_COMMAND}" -E copy "${scenario}" "${folder}/scenarios/${name}"
      DEPENDS "${scenario}" VERBATIM)
    target_sources(${target} PRIVATE "${folder}/scenarios/${name}")
  endforeach()
endfunction()
