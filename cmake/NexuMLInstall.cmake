# An installed prefix: relocatable, with the same layout below it as the build tree.
include(CMakePackageConfigHelpers)

set(installed)
foreach(target nexuml-core nexuml-runtime nexuml-run)
  if(TARGET ${target})
    list(APPEND installed ${target})
  endif()
endforeach()
if(NOT installed)
  return()
endif()

# The host finds its parts beside itself, so these folders do not follow the system's habits (lib64, lib/<triplet>).
install(TARGETS ${installed} EXPORT NexuMLTargets RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
if(TARGET nexuml-engine)
  install(TARGETS nexuml-engine LIBRARY DESTINATION lib)
endif()
foreach(target nexuml_torch nexuml_library)
  if(TARGET ${target})
    nexuml_install_library(${target})
  endif()
endforeach()
if(NEXUML_WITH_RUNTIME)
  install(FILES "${CMAKE_BINARY_DIR}/etc/nexuml/libtorch.json" DESTINATION etc/nexuml)
endif()

install(DIRECTORY sdk/include/nexuml DESTINATION include)
install(DIRECTORY sdk/clang14/ DESTINATION include/nexuml-clang14)
install(DIRECTORY sdk/template DESTINATION share/nexuml)
install(FILES LICENSE THIRD_PARTY.md CHANGELOG.md DESTINATION share/nexuml)

set(package_folder lib/cmake/NexuML)
set(NEXUML_LIBTORCH_FILE etc/nexuml/libtorch.json)
configure_package_config_file(cmake/NexuMLConfig.cmake.in "${CMAKE_BINARY_DIR}/package/NexuMLConfig.cmake"
  INSTALL_DESTINATION ${package_folder} PATH_VARS NEXUML_LIBTORCH_FILE)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/package/NexuMLConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(EXPORT NexuMLTargets NAMESPACE NexuML:: DESTINATION ${package_folder})
install(FILES
  "${CMAKE_BINARY_DIR}/package/NexuMLConfig.cmake" "${CMAKE_BINARY_DIR}/package/NexuMLConfigVersion.cmake"
  cmake/FindLibTorch.cmake cmake/NexuMLLibrary.cmake cmake/library.map cmake/library_note.cpp
  DESTINATION ${package_folder})
