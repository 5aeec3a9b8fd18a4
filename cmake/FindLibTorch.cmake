# FindLibTorch: the imported target LibTorch::torch (libtorch_cpu and libc10 with their headers).
#
# Looked for in this order; the first place that is named decides, a place that is named and holds none is an error:
#   1. LIBTORCH_ROOT, cache variable or environment: a LibTorch folder, or the `torch` folder of a Python installation
#   2. `.deps/torch` in the source tree (the layout of `pip install --target .deps torch`)
#   3. the torch of the interpreter named by NEXUML_PYTHON
#   4. a TorchConfig.cmake that CMake finds by itself
#   5. LibTorch_FALLBACK, where the package configuration of NexuML puts the one that NexuML was built with
#
# Result: LibTorch_FOUND, LibTorch_VERSION, LibTorch_FLAVOUR (cpu, cu132, rocm6.4: for which devices), LibTorch_ROOT_DIR,
# LibTorch_LIBRARY_DIR, LibTorch_CUDA (whether that LibTorch has a CUDA part whose libraries resolve). The CUDA part is
# never linked: it is opened by path when a run asks for it, because linking it makes every start slower. The CUDA
# language is not enabled.

set(LIBTORCH_ROOT "" CACHE PATH "A LibTorch folder, or the torch folder of a Python installation")
set(NEXUML_PYTHON "" CACHE FILEPATH "A Python interpreter whose torch is used when nothing else is named")

# A folder that holds include/torch and lib/libtorch_cpu.so, or one that holds it as `torch` or `libtorch`.
function(_libtorch_folder variable candidate)
  set(${variable} "" PARENT_SCOPE)
  foreach(folder "${candidate}" "${candidate}/torch" "${candidate}/libtorch")
    if(EXISTS "${folder}/lib/libtorch_cpu.so" AND EXISTS "${folder}/include/torch")
      set(${variable} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(_libtorch_locate)
  set(named "${LIBTORCH_ROOT}")
  if(NOT named)
    set(named "$ENV{LIBTORCH_ROOT}")
  endif()
  if(named)
    _libtorch_folder(folder "${named}")
    if(NOT folder)
      message(FATAL_ERROR "LIBTORCH_ROOT=${named} holds no LibTorch: expected lib/libtorch_cpu.so and include/torch in it")
    endif()
    set(LibTorch_ROOT_DIR "${folder}" PARENT_SCOPE)
    return()
  endif()

  _libtorch_folder(folder "${CMAKE_SOURCE_DIR}/.deps")
  if(NOT folder AND NEXUML_PYTHON)
    execute_process(
      COMMAND "${NEXUML_PYTHON}" -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    if(failed OR NOT found)
      message(FATAL_ERROR "NEXUML_PYTHON=${NEXUML_PYTHON} has no torch")
    endif()
    _libtorch_folder(folder "${found}")
  endif()
  if(NOT folder)
    find_path(LibTorch_CONFIG_DIR TorchConfig.cmake PATH_SUFFIXES share/cmake/Torch lib/cmake/Torch HINTS "${Torch_DIR}")
    mark_as_advanced(LibTorch_CONFIG_DIR)
    if(LibTorch_CONFIG_DIR)
      set(up "${LibTorch_CONFIG_DIR}")  # <folder>/share/cmake/Torch
      foreach(level RANGE 1 3)
        cmake_path(GET up PARENT_PATH up)
      endforeach()
      _libtorch_folder(folder "${up}")
    endif()
  endif()
  if(NOT folder AND LibTorch_FALLBACK)
    _libtorch_folder(folder "${LibTorch_FALLBACK}")
  endif()
  set(LibTorch_ROOT_DIR "${folder}" PARENT_SCOPE)
endfunction()

# "2.15.0+cu132" as the files beside the libraries tell it; empty where there are none.
function(_libtorch_full_version variable)
  set(${variable} "" PARENT_SCOPE)
  foreach(file version.py build-version)
    if(EXISTS "${LibTorch_ROOT_DIR}/${file}")
      file(STRINGS "${LibTorch_ROOT_DIR}/${file}" line REGEX "^(__version__|[0-9])" LIMIT_COUNT 1)
      if(line MATCHES "[0-9]+\\.[0-9]+\\.[0-9]+(\\+[A-Za-z0-9.]+)?")
        set(${variable} "${CMAKE_MATCH_0}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

function(_libtorch_version)
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS "${LibTorch_ROOT_DIR}/include/${header}")
      file(STRINGS "${LibTorch_ROOT_DIR}/include/${header}" lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      if(lines)
        string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
        list(JOIN numbers "." version)
        set(LibTorch_VERSION "${version}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  _libtorch_full_version(version)
  string(REGEX REPLACE "\\+.*" "" LibTorch_VERSION "${version}")
  set(LibTorch_VERSION "${LibTorch_VERSION}" PARENT_SCOPE)
endfunction()

# What stands behind the + of the full version; where nothing does, the libraries tell.
function(_libtorch_flavour)
  _libtorch_full_version(version)
  set(flavour cpu)
  if(version MATCHES "\\+(.+)")
    set(flavour "${CMAKE_MATCH_1}")
  else()
    foreach(device cuda hip xpu)
      if(EXISTS "${LibTorch_LIBRARY_DIR}/libtorch_${device}.so")
        set(flavour ${device})
      endif()
    endforeach()
  endif()
  set(LibTorch_FLAVOUR "${flavour}" PARENT_SCOPE)
endfunction()

# Debian's libraries use the C++11 strings; a LibTorch with the old ones would fail at link time with unreadable names.
function(_libtorch_refuse_old_strings)
  set(config "${LibTorch_ROOT_DIR}/share/cmake/Torch/TorchConfig.cmake")
  if(EXISTS "${config}")
    file(STRINGS "${config}" old REGEX "_GLIBCXX_USE_CXX11_ABI=0")
    if(old)
      message(FATAL_ERROR "LibTorch at ${LibTorch_ROOT_DIR} is built with _GLIBCXX_USE_CXX11_ABI=0; "
        "expected one with the C++11 ABI (every pip wheel since 2.7, or the cxx11-abi archive)")
    endif()
  endif()
endfunction()

# pip puts the NVIDIA libraries that libtorch_cpu names beside the torch folder.
function(_libtorch_companions)
  cmake_path(GET LibTorch_ROOT_DIR PARENT_PATH site)
  file(GLOB companions LIST_DIRECTORIES true "${site}/nvidia/*/lib")
  set(_libtorch_companions "${companions}" PARENT_SCOPE)
endfunction()

# The headers by links, without the copies of foreign libraries that stand among them: those would hide the system's
# own, whose shared objects are another version.
function(_libtorch_headers)
  set(links "${CMAKE_BINARY_DIR}/libtorch-include")
  file(REMOVE_RECURSE "${links}")
  file(MAKE_DIRECTORY "${links}")
  file(GLOB entries "${LibTorch_ROOT_DIR}/include/*")
  foreach(entry IN LISTS entries)
    cmake_path(GET entry FILENAME name)
    if(NOT name MATCHES "^(fmt|google|nlohmann)$")
      file(CREATE_LINK "${entry}" "${links}/${name}" SYMBOLIC)
    endif()
  endforeach()
  set(_libtorch_includes "${links}" "${links}/torch/csrc/api/include" PARENT_SCOPE)
endfunction()

function(_libtorch_cuda)
  set(LibTorch_CUDA FALSE PARENT_SCOPE)
  set(library "${LibTorch_LIBRARY_DIR}/libtorch_cuda.so")
  if(EXISTS "${library}" AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ldd "${library}" OUTPUT_VARIABLE needed ERROR_QUIET)
    if(needed AND NOT needed MATCHES "not found")
      set(LibTorch_CUDA TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

_libtorch_locate()
if(LibTorch_ROOT_DIR)
  _libtorch_version()
  set(LibTorch_LIBRARY_DIR "${LibTorch_ROOT_DIR}/lib")
  _libtorch_flavour()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_ROOT_DIR LibTorch_LIBRARY_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE
    "expected LibTorch 2.6 or newer: set LIBTORCH_ROOT to one, or put one into .deps: python3 -m pip install --target .deps --no-deps torch==2.15.0 nvidia-cuda-runtime nvidia-cuda-cupti")

if(LibTorch_FOUND AND NOT TARGET LibTorch::torch)
  _libtorch_refuse_old_strings()
  _libtorch_companions()
  _libtorch_cuda()
  _libtorch_headers()

  foreach(name c10 torch_cpu)
    add_library(LibTorch::${name} SHARED IMPORTED)
    set_target_properties(LibTorch::${name} PROPERTIES
      IMPORTED_LOCATION "${LibTorch_LIBRARY_DIR}/lib${name}.so"
      IMPORTED_NO_SONAME TRUE
      INTERFACE_INCLUDE_DIRECTORIES "${_libtorch_includes}")
  endforeach()
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_NO_SONAME FALSE IMPORTED_SONAME libc10.so)
  set_target_properties(LibTorch::torch_cpu PROPERTIES IMPORTED_NO_SONAME FALSE IMPORTED_SONAME libtorch_cpu.so)

  add_library(LibTorch::torch INTERFACE IMPORTED)
  target_link_libraries(LibTorch::torch INTERFACE LibTorch::torch_cpu LibTorch::c10)
  # Becomes a part of the ABI tag, see <nexuml/abi.h>.
  target_compile_definitions(LibTorch::torch INTERFACE "NEXUML_TORCH_VERSION=\"${LibTorch_VERSION}\"")
  foreach(folder "${LibTorch_LIBRARY_DIR}" ${_libtorch_companions})
    target_link_options(LibTorch::torch INTERFACE "LINKER:-rpath-link,${folder}")
  endforeach()
endif()
