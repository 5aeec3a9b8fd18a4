#include "in_order.h"

#include <nexuml/data.h>

#include <algorithm>

namespace acme {

namespace {

class InOrderBackend final : public nexuml::LoaderBackend {
 public:
  explicit InOrderBackend(bool reversed) : reversed_(reversed) {}

  std::unique_ptr<nexuml::DataLoader> create_loader(const nexuml::LoaderRequest& request) const override {
    nexuml::LoaderRequest ordered = request;
    ordered.shuffle = false;
    ordered.weights.clear();
    if (reversed_) std::ranges::reverse(ordered.indices);
    return nexuml::make_torch_loader_backend()->create_loader(ordered);
  }

 private:
  bool reversed_;
};

}  // namespace

void InOrder::describe(nexuml::Schema<InOrder>& s) {
  s.summary("Batches in the order of the data, never shuffled.");
  s.field("reversed", &InOrder::reversed).doc("Last sample first.");
}

std::shared_ptr<nexuml::LoaderBackend> InOrder::build(const nexuml::LoaderBuildContext&) const {
  return std::make_shared<InOrderBackend>(reversed);
}

}  // namespace acme
