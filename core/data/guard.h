// Calls into component code: whatever it throws leaves as Error, naming the component.
#pragma once

#include <c10/util/Exception.h>
#include <nexuml/diagnostic.h>

#include <exception>
#include <string>
#include <utility>

namespace nexuml {

// `subject` begins the message: "the data source 'csv'". Errors pass, with `where` filled in where they say
// nothing of a place.
template <class Call>
auto guarded(const std::string& code, const std::string& subject, const Where& where, Call&& call)
    -> decltype(call()) {
  try {
    return std::forward<Call>(call)();
  } catch (const Error& error) {
    Diagnostics placed;
    for (Diagnostic diagnostic : error.diagnostics()) {
      if (diagnostic.where.key_path.empty()) diagnostic.where.key_path = where.key_path;
      if (diagnostic.where.layer.empty()) diagnostic.where.layer = where.layer;
      placed.add(std::move(diagnostic));
    }
    throw Error(std::move(placed));
  } catch (const c10::Error& error) {
    throw Error(code, subject + " failed: " + error.what_without_backtrace(), where);
  } catch (const std::exception& error) {
    throw Error(code, subject + " failed: " + error.what(), where);
  } catch (...) {
    throw Error(code, subject + " failed with an exception that is not a std::exception", where);
  }
}

}  // namespace nexuml
