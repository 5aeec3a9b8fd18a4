#!/usr/bin/env bash
# Makes the Windows libraries beside it, and the seeds of the fuzz targets elf and pe, with Debian's
# g++-mingw-w64-x86-64-posix and gcc. They are committed: the tests need neither.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/entry.cpp" <<'CODE'
extern "C" __declspec(dllexport) const void* nexuml_library_entry_v1() { return nullptr; }
CODE
cat >"$work/other.cpp" <<'CODE'
extern "C" __declspec(dllexport) int answer() { return 42; }
CODE
cat >"$work/note.cpp" <<CODE
#define NEXUML_LIBRARY_ID "org.example.windows"
#define NEXUML_LIBRARY_VERSION "1.2.0"
#include "$root/cmake/library_note.cpp"
CODE
mingw=(x86_64-w64-mingw32-g++-posix -std=c++20 -Os -s -shared -nostdlib -Wl,--entry=0 -Wl,--file-alignment=512 -Wl,--no-insert-timestamp "-I$root/sdk/include")
"${mingw[@]}" "$work/entry.cpp" "$work/note.cpp" -o "$here/org_example_windows.dll"
"${mingw[@]}" "$work/other.cpp" -o "$here/no_note.dll"
cat >"$work/uses.cpp" <<'CODE'
extern "C" __declspec(dllimport) int answer();
extern "C" __declspec(dllexport) const void* nexuml_library_entry_v1() { static int at = answer(); return &at; }
CODE
"${mingw[@]}" -fno-threadsafe-statics "$work/uses.cpp" "$work/note.cpp" "$here/no_note.dll" -o "$here/needs_other.dll"

corpus="$root/tests/fuzz/corpus"
cp "$here"/*.dll "$corpus/pe/"
head -c 700 "$here/org_example_windows.dll" >"$corpus/pe/cut_off"
sed -e 's/__declspec(dllexport)/__attribute__((visibility("default")))/' "$work/entry.cpp" >"$work/elf.cpp"
linux=(g++ -std=c++20 -Os -s -fPIC -shared -nostdlib -fvisibility=hidden -Wl,-z,noseparate-code -Wl,--build-id=sha1 "-I$root/sdk/include")
"${linux[@]}" "$work/elf.cpp" "$work/note.cpp" -Wl,--hash-style=gnu -o "$corpus/elf/gnu_hash.so"
"${linux[@]}" "$work/elf.cpp" "$work/note.cpp" -Wl,--hash-style=sysv -Wl,-rpath,'$ORIGIN' -Wl,-soname,libx-1.so -lc -o "$corpus/elf/sysv_hash.so"
"${linux[@]}" "$work/elf.cpp" -o "$corpus/elf/no_note.so"
head -c 400 "$corpus/elf/gnu_hash.so" >"$corpus/elf/cut_off"
