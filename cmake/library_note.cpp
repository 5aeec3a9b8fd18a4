// The ABI note of a component library: compiled into each by nexuml_add_library as a source of its own, because a
// note in an unreferenced member of an archive would be dropped. Top-level assembly keeps the alignment that
// `readelf -n` expects and survives --gc-sections, strip and link-time optimisation.
//
// ELF note, owner "NEXUML", type 1, payload one line of JSON.
#include <nexuml/abi.h>

#define NEXUML_NOTE_FIELD(key, value) "\\\"" key "\\\":\\\"" value "\\\""

#if defined(__ELF__)
asm(".pushsection .note.nexuml.abi,\"a\",%note\n"
    ".p2align 2\n"
    ".long 7\n"          // length of the owner with its zero
    ".long 2f-1f\n"      // length of the payload
    ".long 1\n"          // type
    ".asciz \"NEXUML\"\n"
    ".p2align 2\n"
    "1: .ascii \"{\\\"note_version\\\":1,"
    NEXUML_NOTE_FIELD("id", NEXUML_LIBRARY_ID) ","
    NEXUML_NOTE_FIELD("version", NEXUML_LIBRARY_VERSION) ","
    NEXUML_NOTE_FIELD("nexuml", NEXUML_INTERFACE_VERSION) ","
    NEXUML_NOTE_FIELD("tag", NEXUML_ABI_TAG) ","
    NEXUML_NOTE_FIELD("compiler", NEXUML_ABI_COMPILER) "}\"\n"
    "2: .p2align 2\n"
    ".popsection\n");
#endif
