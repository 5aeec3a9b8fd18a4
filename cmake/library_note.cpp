// The ABI note of a component library: compiled into each by nexuml_add_library as a source of its own, because a
// note in an unreferenced member of an archive would be dropped. Top-level assembly keeps the alignment that
// `readelf -n` expects and survives --gc-sections, strip and link-time optimisation.
//
// ELF note, owner "NEXUML", type 1, payload one line of JSON. In a DLL: the section .nexuml.
#include <nexuml/abi.h>

#define NEXUML_NOTE_FIELD(key, value) "\\\"" key "\\\":\\\"" value "\\\""

// What processors the library was compiled for; nothing for any of its machine.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define NEXUML_NOTE_PROCESSOR "," NEXUML_NOTE_FIELD("processor", "x86-64-v4")
#elif defined(__AVX2__) && defined(__BMI2__) && defined(__FMA__)
#define NEXUML_NOTE_PROCESSOR "," NEXUML_NOTE_FIELD("processor", "x86-64-v3")
#elif defined(__SSE4_2__) && defined(__POPCNT__)
#define NEXUML_NOTE_PROCESSOR "," NEXUML_NOTE_FIELD("processor", "x86-64-v2")
#else
#define NEXUML_NOTE_PROCESSOR ""
#endif

#define NEXUML_NOTE_PAYLOAD                                         \
  ".ascii \"{\\\"note_version\\\":1,"                              \
  NEXUML_NOTE_FIELD("id", NEXUML_LIBRARY_ID) ","                    \
  NEXUML_NOTE_FIELD("version", NEXUML_LIBRARY_VERSION) ","          \
  NEXUML_NOTE_FIELD("nexuml", NEXUML_INTERFACE_VERSION) ","         \
  NEXUML_NOTE_FIELD("tag", NEXUML_ABI_TAG) ","                      \
  NEXUML_NOTE_FIELD("compiler", NEXUML_ABI_COMPILER) NEXUML_NOTE_PROCESSOR "}\"\n"

#if defined(_WIN32)
// A section of its own, which begins with the payload's length: a DLL has no notes.
asm(".section .nexuml,\"dr\"\n"
    ".long 2f-1f\n"
    "1: " NEXUML_NOTE_PAYLOAD
    "2:\n"
    ".text\n");
#elif defined(__ELF__)
asm(".pushsection .note.nexuml.abi,\"a\",%note\n"
    ".p2align 2\n"
    ".long 7\n"          // length of the owner with its zero
    ".long 2f-1f\n"      // length of the payload
    ".long 1\n"          // type
    ".asciz \"NEXUML\"\n"
    ".p2align 2\n"
    "1: " NEXUML_NOTE_PAYLOAD
    "2: .p2align 2\n"
    ".popsection\n");
#endif
