// Starts a daemon in a session of its own, which no signal to the process group reaches.
#include <unistd.h>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("starts_a_daemon", "1");
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  for (;;) ::pause();
}
