// A later version of the library `good`.
#include "../good/library.cpp"
