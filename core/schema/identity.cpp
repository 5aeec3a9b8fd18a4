#include <nexuml/identity.h>

#include <array>

namespace nexuml {
namespace {

constexpr std::array<std::pair<ComponentKind, std::string_view>, 4> kComponentKinds{
    {{ComponentKind::layer, "layer"},
     {ComponentKind::data_source, "data_source"},
     {ComponentKind::eval_algorithm, "eval_algorithm"},
     {ComponentKind::loader_backend, "loader_backend"}}};

constexpr std::array<std::pair<TargetKind, std::string_view>, 12> kTargetKinds{
    {{TargetKind::module, "module"},
     {TargetKind::optimizer, "optimizer"},
     {TargetKind::scheduler, "scheduler"},
     {TargetKind::loss, "loss"},
     {TargetKind::weight_schedule, "weight_schedule"},
     {TargetKind::hook, "hook"},
     {TargetKind::callback, "callback"},
     {TargetKind::strategy, "strategy"},
     {TargetKind::writer, "writer"},
     {TargetKind::decision_rule, "decision_rule"},
     {TargetKind::function, "function"},
     {TargetKind::value, "value"}}};

template <class Table, class Kind>
std::string_view text_of(const Table& table, Kind kind) noexcept {
  for (const auto& [candidate, text] : table)
    if (candidate == kind) return text;
  return "unknown";
}

template <class Kind, std::size_t N>
std::optional<Kind> kind_from(const std::array<std::pair<Kind, std::string_view>, N>& table,
                              std::string_view text) noexcept {
  for (const auto& [kind, candidate] : table)
    if (candidate == text) return kind;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(ComponentKind kind) noexcept {
  return text_of(kComponentKinds, kind);
}
std::string_view to_string(TargetKind kind) noexcept {
  return text_of(kTargetKinds, kind);
}
std::optional<ComponentKind> component_kind(std::string_view text) noexcept {
  return kind_from(kComponentKinds, text);
}
std::optional<TargetKind> target_kind(std::string_view text) noexcept {
  return kind_from(kTargetKinds, text);
}

std::string to_string(const Identity& identity) {
  return std::string(to_string(identity.kind)) + "/" + identity.name + "@" + identity.version;
}

}  // namespace nexuml
