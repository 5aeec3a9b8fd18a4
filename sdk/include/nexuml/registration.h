// Registration: how a library tells the runtime what it provides.
//
//     #include <nexuml/registration.h>
//     NEXUML_LIBRARY(registry) {
//       registry.add<ScaledRelu>("scaled_relu", "1");
//       registry.add_target<Scale>("acme.modules:Scale");
//       registry.add_scenario<DemoParams>("acme-demo", demo_scenario);
//     }
//
// The library's id and version come from CMake (`nexuml_add_library`). Registration is a transaction:
// everything is staged, compared with the manifest and with what is registered already, and committed whole
// or not at all.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/export.h>
#include <nexuml/scenario.h>
#include <nexuml/target.h>

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace nexuml {

// Staged entries; the registry reads them. `restore` decodes normalised params inside the library.
struct DefinitionEntry {
  Identity identity;
  TypeTag tag = nullptr;
  std::shared_ptr<const StructNode> schema;
  std::function<Definition(const Value& params, const Restoring* restoring)> restore;
  bool post_train_fit = false;
  std::string source;  // file:line of the add
};

struct TargetEntry {
  std::shared_ptr<const TargetNode> node;
  TypeTag tag = nullptr;
  std::function<std::shared_ptr<const TargetModel>(const Value& arguments)> make;
  std::string source;
};

// How values of one C++ type stand in recipes. Both functions are total for valid input; `from_value`
// validates and tolerates its own output. The pair is erased; the typed side is add_type_serializer.
struct SerializerEntry {
  std::string type_name;  // the name that recipes show, `acme.RadialBasis`
  TypeTag tag = nullptr;
  std::function<Value(const void* object)> to_value;
  std::function<std::shared_ptr<const void>(const Value& value)> from_value;
  std::string source;
};

struct ScenarioEntry {
  std::string name;
  std::string summary;
  std::shared_ptr<const StructNode> parameters;
  std::function<ScenarioSpec(const Value& parameters, const ScenarioContext& context)> make;
  std::string source;
};

// Everything one library registered.
struct StagedRegistration {
  std::vector<DefinitionEntry> definitions;
  std::vector<TargetEntry> targets;
  std::vector<SerializerEntry> serializers;
  std::vector<ScenarioEntry> scenarios;
};

// A scenario without parameters.
struct NoParameters {
  static void describe(Schema<NoParameters>& s) { s.summary("No parameters."); }
};

struct TargetOptions {
  std::vector<std::string> aliases = {};   // other spellings
  std::vector<std::string> injected = {};  // arguments passed when it is built
};

// [the thread that loads libraries]
class NEXUML_EXPORT Registration {
 public:
  explicit Registration(StagedRegistration& staged) : staged_(staged) {}

  template <class T>
  void add(std::string name, std::string version = "1",
           std::source_location at = std::source_location::current()) {
    constexpr ComponentKind kind = detail::kind_of<T>();
    DefinitionEntry entry;
    entry.identity = {kind, std::move(name), std::move(version)};
    entry.tag = type_tag<T>();
    entry.schema = schema_of<T>();
    entry.restore = [](const Value& params, const Restoring* restoring) {
      return Definition(detail::make_model(FieldTraits<T>::decode(params, restoring)));
    };
    if constexpr (requires { T::post_train_fit; }) entry.post_train_fit = T::post_train_fit;
    stage(std::move(entry), at);
  }

  // `path` is `module:name`, one top-level name.
  template <class T>
  void add_target(std::string path, TargetOptions options = {},
                  std::source_location at = std::source_location::current()) {
    constexpr TargetKind kind = detail::target_kind_of<T>();
    TargetNode node{kind, std::move(path), std::move(options.aliases), schema_of<T>(),
                    std::move(options.injected)};
    TargetEntry entry;
    entry.node = std::make_shared<const TargetNode>(std::move(node));
    entry.tag = type_tag<T>();
    entry.make = [](const Value& arguments) -> std::shared_ptr<const TargetModel> {
      return std::make_shared<const detail::TypedTarget<T, kind>>(FieldTraits<T>::decode(arguments, nullptr));
    };
    stage(std::move(entry), at);
  }

  // `make` is ScenarioSpec(const Parameters&, const ScenarioContext&); -P sets the described fields of
  // Parameters.
  template <Described Parameters, std::invocable<const Parameters&, const ScenarioContext&> Make>
  void add_scenario(std::string name, Make make, std::source_location at = std::source_location::current()) {
    ScenarioEntry entry;
    entry.name = std::move(name);
    entry.parameters = schema_of<Parameters>();
    entry.summary = entry.parameters->summary;
    entry.make = [make = std::move(make)](const Value& parameters,
                                          const ScenarioContext& context) -> ScenarioSpec {
      return make(FieldTraits<Parameters>::decode(parameters, nullptr), context);
    };
    stage(std::move(entry), at);
  }

  // `to_value`: Value(const T&); `from_value`: T(const Value&), throws Error for what it cannot accept.
  template <class T, std::invocable<const T&> ToValue, std::invocable<const Value&> FromValue>
  void add_type_serializer(std::string type_name, ToValue to_value, FromValue from_value,
                           std::source_location at = std::source_location::current()) {
    SerializerEntry entry;
    entry.type_name = std::move(type_name);
    entry.tag = type_tag<T>();
    entry.to_value = [to_value](const void* object) -> Value {
      return to_value(*static_cast<const T*>(object));
    };
    entry.from_value = [from_value](const Value& value) -> std::shared_ptr<const void> {
      return std::make_shared<const T>(from_value(value));
    };
    stage(std::move(entry), at);
  }

 private:
  void stage(DefinitionEntry entry, std::source_location at);
  void stage(TargetEntry entry, std::source_location at);
  void stage(SerializerEntry entry, std::source_location at);
  void stage(ScenarioEntry entry, std::source_location at);

  StagedRegistration& staged_;
};

}  // namespace nexuml

// ---- the one exported symbol

extern "C" {

// Both structs start with their size and only grow.
struct nexuml_host_v1 {
  std::uint32_t struct_size;
  void* registration;                                          // nexuml::Registration*
  void (*report_failure)(void* context, const char* message);  // called at most once
  void* report_context;
};
struct nexuml_library_v1 {
  std::uint32_t struct_size;
  int (*register_components)(const nexuml_host_v1* host);  // 0: done; no exception leaves it
};
using nexuml_library_entry_v1_function = const nexuml_library_v1* (*)(void);
}

#define NEXUML_LIBRARY_ENTRY_SYMBOL "nexuml_library_entry_v1"

// Defines the entry of a library; the block that follows registers what it provides. Once per library.
#define NEXUML_LIBRARY(registry)                                                                 \
  static void nexuml_register_library(::nexuml::Registration& registry);                         \
  static int nexuml_register_guarded(const nexuml_host_v1* host) {                               \
    try {                                                                                        \
      nexuml_register_library(*static_cast<::nexuml::Registration*>(host->registration));        \
      return 0;                                                                                  \
    } catch (const std::exception& failure) {                                                    \
      host->report_failure(host->report_context, failure.what());                                \
    } catch (...) {                                                                              \
      host->report_failure(host->report_context, "an exception that is not a std::exception");   \
    }                                                                                            \
    return 1;                                                                                    \
  }                                                                                              \
  extern "C" NEXUML_EXPORT const nexuml_library_v1* nexuml_library_entry_v1() {                  \
    static const nexuml_library_v1 library{sizeof(nexuml_library_v1), &nexuml_register_guarded}; \
    return &library;                                                                             \
  }                                                                                              \
  static void nexuml_register_library(::nexuml::Registration& registry)
