// `new library NAME`: writes a project that builds, tests and validates untouched, from
// <prefix>/share/nexuml/template.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>

#include "host/commands.h"
#include "host/taken_names.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

using Replacements = std::map<std::string, std::string>;

// What each option adds: its template files, and the line that registers it.
struct Part {
  const char* option;
  const char* files;
  const char* registration;
};
constexpr Part parts[] = {{"layers", "layer", "  registry.add<{0}::{1}>(\"{2}\");\n"},
                          {"data_sources", "data_source", "  registry.add<{0}::{1}>(\"{2}\");\n"},
                          {"eval_algorithms", "eval_algorithm", "  registry.add<{0}::{1}>(\"{2}\");\n"},
                          {"loader_backends", "loader_backend", "  registry.add<{0}::{1}>(\"{2}\");\n"},
                          {"targets", "target", "  registry.add_target<{0}::{1}>(\"{0}.modules:{1}\");\n"}};

// moving_average, MovingAverage, moving-average -> MovingAverage
std::string type_name_of(const std::string& name) {
  std::string type;
  bool upper = true;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) {
      upper = true;
      continue;
    }
    type += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return type;
}

// MovingAverage -> moving_average
std::string file_name_of(const std::string& type) {
  std::string file;
  for (const char c : type) {
    if (std::isupper(static_cast<unsigned char>(c)) && !file.empty()) file += '_';
    file += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return file;
}

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  Diagnostics problems;
  problems.error("E881", message).hint = hint;
  throw BadCommandLine{std::move(problems)};
}

void check_name(const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0])) ||
      !std::ranges::all_of(name, allowed)) {
    refuse(fmt::format("'{}' cannot be a name", name), "use letters, digits and '_', a letter first");
  }
  if (const std::string_view owner = owner_of_name(name); !owner.empty())
    refuse(fmt::format("'{}' cannot be a name: it is {}", name, owner), "choose another name");
}

// The name of the library is also that of its namespace and of its target in CMake.
void check_library_name(const std::string& name) {
  check_name(name);
  if (const std::string_view owner = owner_of_library_name(name); !owner.empty())
    refuse(fmt::format("'{}' cannot be the name of a library: it is {}", name, owner), "choose another name");
}

std::string filled(const fs::path& file, const Replacements& replacements) {
  Diagnostics problems;
  std::string text = read_text_file(file.string(), problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  for (const auto& [key, value] : replacements) {
    const std::string mark = "@" + key + "@";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

void write(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file || failed) throw Error("E108", "the file cannot be written", Where::in_file(path.string()));
}

}  // namespace

int new_library(Session& session) {
  const auto& invocation = session.invocation();
  fs::path folder = fs::path(invocation.text("name")).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // `acme/`
  const std::string name = folder.filename().string();
  check_library_name(name);
  std::error_code ignored;
  if (fs::exists(folder, ignored))
    refuse(fmt::format("{} exists already", folder.string()), "choose another name");
  const fs::path templates = fs::path(session.environment().host_prefix) / "share" / "nexuml" / "template";

  Replacements common{{"NAME", name}, {"NAMESPACE", name}};
  std::string includes, registrations, first_layer;
  std::map<fs::path, std::string> files;
  const fs::path registration = folder / "src" / "library.cpp";
  for (const auto& part : parts) {
    std::vector<std::string> names = invocation.texts(part.option);
    const bool nothing_asked = std::ranges::none_of(
        parts, [&](const Part& one) { return invocation.options.find(one.option) != nullptr; });
    if (nothing_asked && part.files == std::string_view("layer")) names = {"Scaled"};
    for (const auto& given : names) {
      check_name(given);
      const std::string type = type_name_of(given), file = file_name_of(type);
      Replacements replacements = common;
      replacements.insert({{"TYPE", type}, {"FILE", file}});
      for (const char* extension : {".h", ".cpp"}) {
        const fs::path path = folder / "src" / (file + extension);
        if (path == registration)
          refuse(fmt::format("'{}' cannot be the name of a part: {} registers the parts", given,
                             registration.string()),
                 "choose another name");
        if (files.contains(path))
          refuse(fmt::format("two parts would stand in {}", path.string()), "rename one of them");
        files[path] = filled(templates / (std::string(part.files) + extension), replacements);
      }
      includes += fmt::format("#include \"{}.h\"\n", file);
      registrations += fmt::format(fmt::runtime(part.registration), name, type, given);
      if (first_layer.empty() && part.files == std::string_view("layer")) first_layer = given;
    }
  }
  common.insert({{"INCLUDES", includes}, {"REGISTRATIONS", registrations}, {"TYPE", first_layer}});
  files[registration] = filled(templates / "library.cpp", common);
  files[folder / "CMakeLists.txt"] = filled(templates / "CMakeLists.txt", common);
  files[folder / "README.md"] = filled(templates / "README.md", common);
  files[folder / ".github" / "workflows" / "build.yml"] = filled(templates / "ci.yml", common);
  if (!first_layer.empty()) {
    files[folder / "scenarios" / (name + "-demo.yaml")] = filled(templates / "scenario.yaml", common);
  }
  Value written = Value::list();
  for (const auto& [path, text] : files) {
    write(path, text);
    session.print(fmt::format("{}\n", path.string()));
    written.push_back(path.string());
  }
  session.print(fmt::format(
      "\nBuild it:\n  cmake -S {0} -B {0}/build -DCMAKE_PREFIX_PATH={1}\n  cmake --build {0}/build\n",
      folder.string(), session.environment().host_prefix));
  session.answer().set("files", std::move(written));
  return 0;
}

}  // namespace nexuml
