# nexuml_add_library(<target> ID <library id> VERSION <version> SOURCES <file>...
#                    [SCENARIOS <file.yaml>...] [REQUIRES <"id" or "id rule">...] [MANIFEST <file>] [WITHOUT_TENSORS])
#
#     find_package(NexuML CONFIG REQUIRED)
#     nexuml_add_library(acme_signal ID org.acme.signal VERSION 1.0.0 SOURCES src/library.cpp)
#
# Builds a component folder that can be dropped into a root and moved: `<components>/<id>/` with `lib<target>.so`, its
# manifest (`<target>.nexuml.json`, `<target>.nexuml-schemas.json`) and its scenarios. The manifest is written by letting
# the library register itself in nexuml-run, so a mistake in it fails the build; it also becomes a section of the
# library. The shipped libraries are built by this same function. Everything but the entry symbol is hidden: two
# libraries may then define the same class name without meeting in one process.
#
# MANIFEST names an index that stands ready, for builds whose result cannot run here; the schemas beside it are taken
# along, and the first load checks both.
# WITHOUT_TENSORS is for a library that uses no LibTorch: it links NexuML::Core alone.

include_guard(GLOBAL)
set(NEXUML_SDK_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

function(nexuml_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITHOUT_TENSORS" "ID;VERSION;MANIFEST" "SOURCES;SCENARIOS;REQUIRES")
  foreach(required ID VERSION SOURCES)
    if(NOT arg_${required})
      message(FATAL_ERROR "nexuml_add_library(${target}): ${required} is missing")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nexuml_add_library(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_ID MATCHES "^[A-Za-z0-9][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)+$")
    message(FATAL_ERROR "nexuml_add_library(${target}): ID is a name that is yours alone, letters, digits, '_' and '-' between dots, "
      "such as org.example.acme; found ${arg_ID}")
  endif()
  if(NOT arg_VERSION MATCHES "^[0-9][A-Za-z0-9.+-]*$")
    message(FATAL_ERROR "nexuml_add_library(${target}): VERSION starts with a digit, such as 1.0.0; found ${arg_VERSION}")
  endif()
  foreach(requirement IN LISTS arg_REQUIRES)
    if(NOT requirement MATCHES "^[^ <>=]+( +(>=|<=|>|<|=)[0-9][A-Za-z0-9.+-]*)*$")
      message(FATAL_ERROR "nexuml_add_library(${target}): REQUIRES is an id, or an id with a rule as one text, such as "
        "\"org.acme.base >=1.2 <2\"; found ${requirement}")
    endif()
  endforeach()
  foreach(file IN LISTS arg_SCENARIOS arg_MANIFEST)
    _nexuml_require_file("nexuml_add_library(${target})" "${file}")
  endforeach()
  if(NOT NEXUML_COMPONENTS_DIR)
    set(NEXUML_COMPONENTS_DIR "${CMAKE_BINARY_DIR}/components")
  endif()
  set(folder "${NEXUML_COMPONENTS_DIR}/${arg_ID}")
  get_property(owner GLOBAL PROPERTY "NEXUML_OWNER_OF_${folder}")
  if(owner)
    message(FATAL_ERROR "nexuml_add_library(${target}): the library ${owner} has the ID ${arg_ID} already; each needs one of its own")
  endif()
  set_property(GLOBAL PROPERTY "NEXUML_OWNER_OF_${folder}" "${target}")

  add_library(${target} MODULE ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    CXX_STANDARD 20
    CXX_STANDARD_REQUIRED ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${folder}"
    LINK_DEPENDS "${NEXUML_SDK_CMAKE_DIR}/library.map"
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN"
    NO_SONAME ON
    NEXUML_ID "${arg_ID}"
    NEXUML_VERSION "${arg_VERSION}"
    NEXUML_FOLDER "${folder}")
  if(WIN32)
    # There is no version script: what is marked for export shows, and the entry is among it.
    set_target_properties(${target} PROPERTIES PREFIX "")
  else()
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    # The SONAME carries the version: two versions in one process do not take each other's place.
    target_link_options(${target} PRIVATE
      "-Wl,--version-script=${NEXUML_SDK_CMAKE_DIR}/library.map" -Wl,-z,now -Wl,--build-id=sha1
      "-Wl,-soname,lib${target}-${arg_VERSION}.so")
    if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_DEBUG}" MATCHES "-fsanitize")
      target_link_options(${target} PRIVATE -Wl,-z,defs)
    endif()
  endif()
  if(arg_WITHOUT_TENSORS)
    target_link_libraries(${target} PRIVATE NexuML::Core)
  else()
    target_link_libraries(${target} PRIVATE NexuML::Runtime)
    _nexuml_precompile(${target} "${arg_SOURCES}")
  endif()
  _nexuml_add_note(${target} "${arg_ID}" "${arg_VERSION}")
  _nexuml_add_manifest(${target} "${folder}" "${arg_MANIFEST}" "${arg_REQUIRES}")

  foreach(scenario IN LISTS arg_SCENARIOS)
    cmake_path(ABSOLUTE_PATH scenario)
    cmake_path(GET scenario FILENAME name)
    add_custom_command(OUTPUT "${folder}/scenarios/${name}"
      COMMAND "${CMAKE_COMMAND}" -E copy "${scenario}" "${folder}/scenarios/${name}"
      DEPENDS "${scenario}" VERBATIM)
    target_sources(${target} PRIVATE "${folder}/scenarios/${name}")
  endforeach()
endfunction()

# A file that the build itself makes may still be missing.
function(_nexuml_require_file who file)
  cmake_path(ABSOLUTE_PATH file)
  cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${file}" NORMALIZE made)
  if(NOT made AND NOT EXISTS "${file}")
    message(FATAL_ERROR "${who}: there is no file ${file}")
  endif()
endfunction()

# <variable>: a property that nexuml_add_library gave the target.
function(_nexuml_property variable who target property)
  set(value)
  if(TARGET ${target})
    get_target_property(value ${target} ${property})
  endif()
  if(NOT value)
    message(FATAL_ERROR "${who}(${target}): ${target} was not made by nexuml_add_library")
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

# LibTorch's headers cost 15 s a source; one precompiled header pays from the second source on.
function(_nexuml_precompile target sources)
  if(TARGET nexuml-pch)
    nexuml_reuse_torch_pch(${target})
    return()
  endif()
  list(LENGTH sources count)
  if(count GREATER 1)
    target_precompile_headers(${target} PRIVATE <torch/types.h> <torch/nn/module.h>)
  endif()
endfunction()

# The ABI note is a source of the target itself: in a static archive the linker would drop it.
function(_nexuml_add_note target id version)
  set(note "${CMAKE_CURRENT_BINARY_DIR}/${target}_note.cpp")
  file(CONFIGURE OUTPUT "${note}" @ONLY CONTENT
"#define NEXUML_LIBRARY_ID \"${id}\"
#define NEXUML_LIBRARY_VERSION \"${version}\"
#include \"@NEXUML_SDK_CMAKE_DIR@/library_note.cpp\"
")
  target_sources(${target} PRIVATE "${note}")
  set_source_files_properties("${note}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  if(LibTorch_FLAVOUR)
    set_source_files_properties("${note}" PROPERTIES COMPILE_DEFINITIONS "NEXUML_TORCH_FLAVOUR=\"${LibTorch_FLAVOUR}\"")
  endif()
endfunction()

# Where the library is built with a sanitizer and the host is not, the sanitizer's runtime has to be in the process
# first. <variable>: arguments of `cmake -E env`.
function(_nexuml_sanitizer_environment variable)
  set(environment ASAN_OPTIONS=detect_leaks=0)
  get_target_property(imported NexuML::nexuml-run IMPORTED)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(options COMPILE_OPTIONS)
  foreach(sanitizer address:asan thread:tsan)
    string(REGEX MATCH "^[a-z]+" name "${sanitizer}")
    string(REGEX MATCH "[a-z]+$" runtime "${sanitizer}")
    if(imported AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options}" MATCHES "-fsanitize=[a-z,]*${name}")
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(file "lib${runtime}.so")
      else()
        set(file "libclang_rt.${runtime}-${CMAKE_SYSTEM_PROCESSOR}.so")
      endif()
      execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${file}"
        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
      list(APPEND environment "LD_PRELOAD=${path}")
    endif()
  endforeach()
  set(${variable} ${environment} PARENT_SCOPE)
endfunction()

function(_nexuml_add_manifest target folder ready requirements)
  set(index "${folder}/${target}.nexuml.json")
  set(schemas "${folder}/${target}.nexuml-schemas.json")
  if(ready)
    _nexuml_copy_manifest(${target} "${ready}" "${index}" "${schemas}")
    return()
  endif()
  set(arguments)
  foreach(requirement IN LISTS requirements)
    list(APPEND arguments --requires "${requirement}")
  endforeach()
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    list(APPEND arguments --in-process)
  endif()
  add_dependencies(${target} NexuML::nexuml-run)
  # A sanitizer's runtime reports what third-party start-up code leaks; here only registration matters.
  _nexuml_sanitizer_environment(environment)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM COMMENT "Manifest of ${target}"
    COMMAND "${CMAKE_COMMAND}" -E env ${environment} ${CMAKE_CROSSCOMPILING_EMULATOR}
      $<TARGET_FILE:NexuML::nexuml-run> __manifest "$<TARGET_FILE:${target}>" "${folder}/${target}" ${arguments}
    COMMAND "${CMAKE_OBJCOPY}"
      --remove-section .nexuml.manifest --remove-section .nexuml.schemas
      --add-section ".nexuml.manifest=${index}" --add-section ".nexuml.schemas=${schemas}"
      "$<TARGET_FILE:${target}>")
endfunction()

# The index that stands ready, and the schemas where they lie beside it.
function(_nexuml_copy_manifest target ready index schemas)
  cmake_path(ABSOLUTE_PATH ready)
  string(REGEX REPLACE "\\.nexuml\\.json$" ".nexuml-schemas.json" ready_schemas "${ready}")
  set(copies COMMAND "${CMAKE_COMMAND}" -E copy "${ready}" "${index}")
  set(sections --remove-section .nexuml.manifest --add-section ".nexuml.manifest=${index}")
  if(NOT ready_schemas STREQUAL ready AND EXISTS "${ready_schemas}")
    list(APPEND copies COMMAND "${CMAKE_COMMAND}" -E copy "${ready_schemas}" "${schemas}")
    list(APPEND sections --remove-section .nexuml.schemas --add-section ".nexuml.schemas=${schemas}")
  endif()
  if(NOT WIN32)  # where the names of sections have eight letters
    list(APPEND copies COMMAND "${CMAKE_OBJCOPY}" ${sections} "$<TARGET_FILE:${target}>")
  endif()
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM ${copies})
endfunction()

# nexuml_install_library(<target>): the component folder into <prefix>/lib/nexuml/components, and an entry-point manifest
# by which a host of another prefix finds it (NEXUML_PREFIX_PATH, --prefix). Each file is written beside its place and
# renamed: overwriting a library that a process has open would end that process. In the host's own prefix the folder is
# found as a shipped one, and the entry point leads to the same file.
function(nexuml_install_library target)
  _nexuml_property(id nexuml_install_library ${target} NEXUML_ID)
  _nexuml_property(folder nexuml_install_library ${target} NEXUML_FOLDER)
  install(CODE "
    set(source \"${folder}\")
    set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    set(destination \"\${prefix}/lib/nexuml/components/${id}\")
    file(GLOB_RECURSE names RELATIVE \"\${source}\" \"\${source}/*\")
    foreach(name IN LISTS names)
      cmake_path(GET name PARENT_PATH inner)
      file(MAKE_DIRECTORY \"\${destination}/\${inner}\")
      file(COPY_FILE \"\${source}/\${name}\" \"\${destination}/\${name}.partial\")
      file(RENAME \"\${destination}/\${name}.partial\" \"\${destination}/\${name}\")
    endforeach()
    message(STATUS \"Installing: \${destination}\")
    file(READ \"\${source}/${target}.nexuml.json\" manifest)
    string(JSON path GET \"\${manifest}\" library path)
    string(JSON manifest SET \"\${manifest}\" library path \"\\\"../../../lib/nexuml/components/${id}/\${path}\\\"\")
    file(MAKE_DIRECTORY \"\${prefix}/share/nexuml/entry_points.d\")
    set(entry \"\${prefix}/share/nexuml/entry_points.d/${target}.nexuml.json\")
    file(WRITE \"\${entry}.partial\" \"\${manifest}\")
    file(RENAME \"\${entry}.partial\" \"\${entry}\")
  " COMPONENT Runtime)
endfunction()

# nexuml_add_library_tests(<target> [CASES <file or folder>...] [TIMEOUT <seconds>])
#
# A test `<target>-validate` of ctest: `nexuml-run validate` over the component folder. CASES are golden cases; those
# in the folder `cases` of the component folder are taken by themselves. The report also lies beside the build as JUnit.
function(nexuml_add_library_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "CASES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nexuml_add_library_tests(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  _nexuml_property(folder nexuml_add_library_tests ${target} NEXUML_FOLDER)
  set(arguments --junit "${CMAKE_CURRENT_BINARY_DIR}/${target}-validate.xml")
  foreach(cases IN LISTS arg_CASES)
    cmake_path(ABSOLUTE_PATH cases)
    list(APPEND arguments --cases "${cases}")
  endforeach()
  _nexuml_sanitizer_environment(environment)
  add_test(NAME ${target}-validate
    COMMAND "${CMAKE_COMMAND}" -E env ${environment} ${CMAKE_CROSSCOMPILING_EMULATOR}
      $<TARGET_FILE:NexuML::nexuml-run> validate "${folder}" ${arguments})
  if(arg_TIMEOUT)
    set_tests_properties(${target}-validate PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()
