// What this library provides.
#include <nexuml/registration.h>

@INCLUDES@
NEXUML_LIBRARY(registry) {
@REGISTRATIONS@}
