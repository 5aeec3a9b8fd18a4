// Symbol visibility of the shared objects of the runtime. Component libraries do not need it:
// `nexuml_add_library` hides everything but the one entry symbol.
#pragma once

#if defined(_WIN32)
#if defined(NEXUML_BUILDING)
#define NEXUML_EXPORT __declspec(dllexport)
#else
#define NEXUML_EXPORT __declspec(dllimport)
#endif
#else
#define NEXUML_EXPORT __attribute__((visibility("default")))
#endif
