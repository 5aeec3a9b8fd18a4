// What a library and its host must agree on, as text that stands in the binary.
//
//     NEXUML_ABI_TAG    "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.0+cu132;tbb-12"
//
// The parts come from the compiler and from CMake (NEXUML_TORCH_VERSION and, where the tag is made, its flavour
// NEXUML_TORCH_FLAVOUR: for which devices LibTorch was built; NEXUML_TBB_VERSION). Host and
// library are compiled with this header, so both spell them alike. A library carries the tag in an ELF note,
// read before the library is opened. Every macro is a string literal, because the note is written by the
// assembler.
#pragma once

#include <version>  // defines the macros of the standard library

// The C++ interface of these headers. A library runs in a host with the same major and at least its minor.
#define NEXUML_INTERFACE_VERSION "1.0"

#if defined(__x86_64__) || defined(_M_X64)
#define NEXUML_ABI_MACHINE "x86_64"
#elif defined(__aarch64__) || defined(_M_ARM64)
#define NEXUML_ABI_MACHINE "aarch64"
#elif defined(__riscv)
#define NEXUML_ABI_MACHINE "riscv64"
#elif defined(__powerpc64__)
#define NEXUML_ABI_MACHINE "powerpc64"
#else
#error "NexuML does not know this machine: add its name here"
#endif

#if defined(_WIN32)
#define NEXUML_ABI_SYSTEM "windows"
#elif defined(__linux__)
#define NEXUML_ABI_SYSTEM "linux-gnu"
#else
#error "NexuML does not know this system: add its name here"
#endif

#if defined(_LIBCPP_VERSION)
#define NEXUML_ABI_STDLIB "libcxx-abi1"
#elif defined(_GLIBCXX_DEBUG)
#define NEXUML_ABI_STDLIB "libstdcxx-cxx11-debug"
#elif defined(__GLIBCXX__) && _GLIBCXX_USE_CXX11_ABI
#define NEXUML_ABI_STDLIB "libstdcxx-cxx11"
#elif defined(__GLIBCXX__)
#define NEXUML_ABI_STDLIB "libstdcxx-cxx98"
#else
#define NEXUML_ABI_STDLIB "stdlib-unknown"
#endif

#if defined(NEXUML_TORCH_VERSION) && defined(NEXUML_TORCH_FLAVOUR)
#define NEXUML_ABI_TORCH ";torch-" NEXUML_TORCH_VERSION "+" NEXUML_TORCH_FLAVOUR
#elif defined(NEXUML_TORCH_VERSION)
#define NEXUML_ABI_TORCH ";torch-" NEXUML_TORCH_VERSION
#else
#define NEXUML_ABI_TORCH ""
#endif

#if defined(NEXUML_TBB_VERSION)
#define NEXUML_ABI_TBB ";tbb-" NEXUML_TBB_VERSION
#else
#define NEXUML_ABI_TBB ""
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEXUML_ABI_SANITIZER ";sanitizer-address"
#elif __has_feature(thread_sanitizer)
#define NEXUML_ABI_SANITIZER ";sanitizer-thread"
#endif
#endif
#if !defined(NEXUML_ABI_SANITIZER)
#if defined(__SANITIZE_ADDRESS__)
#define NEXUML_ABI_SANITIZER ";sanitizer-address"
#elif defined(__SANITIZE_THREAD__)
#define NEXUML_ABI_SANITIZER ";sanitizer-thread"
#else
#define NEXUML_ABI_SANITIZER ""
#endif
#endif

#define NEXUML_ABI_TAG                     \
  NEXUML_ABI_MACHINE "-" NEXUML_ABI_SYSTEM \
                     ";" NEXUML_ABI_STDLIB NEXUML_ABI_TORCH NEXUML_ABI_TBB NEXUML_ABI_SANITIZER

#if defined(__clang__)
#define NEXUML_ABI_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define NEXUML_ABI_COMPILER "GNU " __VERSION__
#else
#define NEXUML_ABI_COMPILER "unknown"
#endif
