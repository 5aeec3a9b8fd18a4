// A layer that is never built. In an anonymous namespace on purpose: every library has its own type.
#pragma once

#include <nexuml/registration.h>

namespace {

struct OneLayer {
  double value = 1.0;

  static void describe(nexuml::Schema<OneLayer>& s) {
    s.summary("Does nothing.");
    s.field("value", &OneLayer::value);
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

struct OtherLayer {
  std::int64_t size = 1;

  static void describe(nexuml::Schema<OtherLayer>& s) {
    s.summary("Does nothing either.");
    s.field("size", &OtherLayer::size);
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

}  // namespace
