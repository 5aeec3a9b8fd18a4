#include "@FILE@.h"

#include <nexuml/data.h>

namespace @NAMESPACE@ {

namespace {

class @TYPE@Runtime final : public nexuml::LoaderBackend {
 public:
  explicit @TYPE@Runtime(bool shuffle) : shuffle_(shuffle) {}

  std::unique_ptr<nexuml::DataLoader> create_loader(const nexuml::LoaderRequest& request) const override {
    nexuml::LoaderRequest changed = request;
    changed.shuffle = request.shuffle && shuffle_;
    return nexuml::make_torch_loader_backend()->create_loader(changed);
  }

 private:
  bool shuffle_;
};

}  // namespace

void @TYPE@::describe(nexuml::Schema<@TYPE@>& s) {
  s.summary("Gathers batches from memory, in the order of the data unless told otherwise.");
  s.field("shuffle", &@TYPE@::shuffle).doc("Shuffle where the scenario asks for it.");
}

std::shared_ptr<nexuml::LoaderBackend> @TYPE@::build(const nexuml::LoaderBuildContext&) const {
  return std::make_shared<@TYPE@Runtime>(shuffle);
}

}  // namespace @NAMESPACE@
