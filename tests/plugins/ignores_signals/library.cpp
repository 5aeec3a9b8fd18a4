// Ignores every signal that can be ignored, and sleeps.
#include <signal.h>
#include <unistd.h>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("ignores_signals", "1");
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
  for (;;) ::sleep(1000);
}
