# What the tree links against. Everything comes from the system's packages except LibTorch; nothing is downloaded here.

if(WIN32)
  # What scripts/cross-windows put together: headers of the system's packages, and a libyaml.
  add_library(nexuml-private-dependencies INTERFACE)
  target_include_directories(nexuml-private-dependencies INTERFACE
    "${CMAKE_SOURCE_DIR}/core" "${CMAKE_SOURCE_DIR}/sdk/include")
  target_include_directories(nexuml-private-dependencies SYSTEM INTERFACE "${NEXUML_WINDOWS_DEPENDENCIES}/include")
  target_compile_definitions(nexuml-private-dependencies INTERFACE
    BOOST_DLL_USE_STD_FS FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL YAML_DECLARE_STATIC _WIN32_WINNT=0x0A00 NOMINMAX
    WIN32_LEAN_AND_MEAN)
  target_link_libraries(nexuml-private-dependencies INTERFACE
    "${NEXUML_WINDOWS_DEPENDENCIES}/lib/libyaml.a" bcrypt shlwapi)
  add_library(CLI11::CLI11 INTERFACE IMPORTED)
  return()
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto SSL)
find_package(ZLIB REQUIRED)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)

# Used by sources and tests of this tree, never by a public header.
add_library(nexuml-private-dependencies INTERFACE)
target_include_directories(nexuml-private-dependencies INTERFACE
  "${CMAKE_SOURCE_DIR}/core" "${CMAKE_SOURCE_DIR}/sdk/include")
target_compile_definitions(nexuml-private-dependencies INTERFACE BOOST_DLL_USE_STD_FS)
target_link_libraries(nexuml-private-dependencies INTERFACE
  nlohmann_json::nlohmann_json fmt::fmt spdlog::spdlog Boost::headers OpenSSL::Crypto ZLIB::ZLIB PkgConfig::yaml
  Threads::Threads ${CMAKE_DL_LIBS})

if(NEXUML_TBB_ROOT)
  # The packaged oneTBB is not instrumented: under the thread sanitizer a program without races shows a hundred of them.
  if(NOT EXISTS "${NEXUML_TBB_ROOT}/lib/cmake/TBB/TBBConfig.cmake")
    message(FATAL_ERROR "no oneTBB below ${NEXUML_TBB_ROOT}: run scripts/tbb-tsan, which builds one with the thread sanitizer")
  endif()
  set(TBB_DIR "${NEXUML_TBB_ROOT}/lib/cmake/TBB")
endif()
if(NEXUML_WITH_RUNTIME OR NEXUML_TESTS)
  find_package(TBB REQUIRED)
endif()

if(NEXUML_WITH_RUNTIME)
  get_target_property(tbb_location TBB::tbb LOCATION)
  string(REGEX REPLACE ".*\\.so\\.([0-9]+).*" "\\1" NEXUML_TBB_VERSION "${tbb_location}")
  find_package(LibTorch 2.6 REQUIRED)
  pkg_check_modules(sndfile REQUIRED IMPORTED_TARGET sndfile)
  pkg_check_modules(cairo REQUIRED IMPORTED_TARGET cairo)
  find_library(NEXUML_HTTPLIB cpp-httplib REQUIRED)
  pkg_check_modules(libpng REQUIRED IMPORTED_TARGET libpng)
  pkg_check_modules(libjpeg REQUIRED IMPORTED_TARGET libjpeg)
  target_link_libraries(nexuml-private-dependencies INTERFACE TBB::tbb)
  nexuml_create_torch_pch()
endif()
