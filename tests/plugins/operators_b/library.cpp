// The operators of `operators_a` in a library of another name.
#define OPERATORS_LAYER "operators_b"
#include "../operators_a/library.cpp"
