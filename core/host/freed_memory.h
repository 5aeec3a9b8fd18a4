// What the process does with memory that tensors gave back.
#pragma once

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace nexuml {

// A training step frees tensors of a few megabytes and asks for them again in the next one. Left alone, glibc
// returns such memory to the system, and its pages come back one fault at a time: a convolutional
// auto-encoder trained 1.7 times as long. So blocks of up to 32 MiB (the most that glibc allows) come from the
// heap, and up to 256 MiB of it are kept. For programs, at their start; a library must not decide this for
// its host.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

}  // namespace nexuml
