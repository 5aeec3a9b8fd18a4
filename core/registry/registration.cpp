#include <fmt/format.h>
#include <nexuml/registration.h>

namespace nexuml {
namespace {

std::string source_text(const std::source_location& at) {
  std::string_view file = at.file_name();
  if (const auto slash = file.find_last_of('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, at.line());
}

template <class Entry>
void push(std::vector<Entry>& entries, Entry entry, const std::source_location& at) {
  entry.source = source_text(at);
  entries.push_back(std::move(entry));
}

}  // namespace

void Registration::stage(DefinitionEntry entry, std::source_location at) {
  push(staged_.definitions, std::move(entry), at);
}
void Registration::stage(TargetEntry entry, std::source_location at) {
  push(staged_.targets, std::move(entry), at);
}
void Registration::stage(SerializerEntry entry, std::source_location at) {
  push(staged_.serializers, std::move(entry), at);
}
void Registration::stage(ScenarioEntry entry, std::source_location at) {
  push(staged_.scenarios, std::move(entry), at);
}

}  // namespace nexuml
