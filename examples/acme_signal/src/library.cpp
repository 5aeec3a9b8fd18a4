// What this library provides.
#include <nexuml/registration.h>

#include "class_share.h"
#include "in_order.h"
#include "moving_average.h"
#include "scenario.h"
#include "soft_clip.h"
#include "tones.h"
#include "window.h"

NEXUML_LIBRARY(registry) {
  registry.add<acme::MovingAverage>("AcmeMovingAverage");
  registry.add<acme::Tones>("acme_tones");
  registry.add<acme::ClassShare>("acme_class_share");
  registry.add<acme::InOrder>("acme_in_order");
  registry.add_target<acme::SoftClip>("acme.modules:SoftClip");
  registry.add_type_serializer<acme::Window>("acme.Window", acme::window_to_value, acme::window_from_value);
  registry.add_scenario<acme::TonesParameters>("acme-tones-from-code", acme::tones_scenario);
}
