// recipe check: what a file says against what the manifests declare. No library is opened, so rules that only
// a library's code knows are left to `recipe build`.
#include <fmt/format.h>
#include <nexuml/recipe.h>

#include "host/commands.h"

namespace nexuml {

int check_recipes(Session& session) {
  Value checked = Value::list();
  for (const std::string& file : session.invocation().texts("files")) {
    Diagnostics problems;
    const std::string text = read_text_file(file, problems);
    const Value document = problems.has_errors() ? Value() : parse_json(text, file, problems);
    std::optional<Recipe> recipe;
    if (!problems.has_errors()) recipe = read_recipe(*session.catalog(), document, {}, problems);
    session.diagnostics().append(problems);
    if (!recipe) continue;
    session.print(fmt::format("{}: {} ({}), written {}, no problem found\n", file, recipe->cls_path(),
                              to_string(recipe->kind()), recipe->timestamp()));
    checked.push_back(Value::map({{"file", file},
                                  {"kind", to_string(recipe->kind())},
                                  {"target", recipe->target()},
                                  {"recipe", recipe->to_value()}}));
  }
  session.answer().set("checked", std::move(checked));
  return session.diagnostics().has_errors() ? 1 : 0;
}

}  // namespace nexuml
