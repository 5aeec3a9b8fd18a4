// A later version of the library `operators_a`.
#include "../operators_a/library.cpp"
