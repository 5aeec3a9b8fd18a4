#include <fmt/format.h>
#include <nexuml/definition.h>
#include <nexuml/target.h>

#include <cstdint>
#include <stdexcept>

namespace nexuml {

DefinitionModel::~DefinitionModel() = default;
LayerModel::~LayerModel() = default;
DataSourceModel::~DataSourceModel() = default;
EvalAlgorithmModel::~EvalAlgorithmModel() = default;
LoaderBackendModel::~LoaderBackendModel() = default;
TargetModel::~TargetModel() = default;
Targets::~Targets() = default;

const DefinitionModel& Definition::model() const {
  if (!model_) throw std::logic_error("an empty definition has no kind and no parameters");
  return *model_;
}

namespace {

// Writes nested definitions with the address of their type in place of an identity: enough to compare two
// values.
class TagLowering final : public Lowering {
 public:
  Value lower(const Definition& definition) const override {
    return Value::map({{"tag", static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(definition.tag()))},
                       {"params", definition.params(this)}});
  }
};

}  // namespace

bool operator==(const Definition& left, const Definition& right) {
  if (left.model_ == right.model_) return true;
  if (!left.model_ || !right.model_ || left.tag() != right.tag()) return false;
  const TagLowering lowering;
  return left.params(&lowering) == right.params(&lowering);
}

namespace detail {

void throw_invalid_definition(const StructNode& schema, Diagnostics problems) {
  Diagnostics named;
  for (Diagnostic problem : problems) {
    problem.message = fmt::format("{}: {}", schema.name, problem.message);
    named.add(std::move(problem));
  }
  throw Error(std::move(named));
}

void require_kind(const Definition& definition, ComponentKind kind) {
  if (definition.kind() != kind)
    throw std::logic_error(fmt::format("a {} is needed here, the definition is a {}", to_string(kind),
                                       to_string(definition.kind())));
}

}  // namespace detail
}  // namespace nexuml
