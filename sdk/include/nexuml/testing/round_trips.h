// round_trips: does a value survive being written to a file and read again?
//
//     CHECK(nexuml::testing::round_trips(RadialBasis("bessel", 6.0)));
//     CHECK(nexuml::testing::round_trips(my_arguments, registry));      // the recipe of a target's arguments
//
// It goes through bytes, as a checkpoint does: written as JSON, parsed, checked, decoded, and written again.
// Both texts have to be equal, and where the type has ==, both values. What went wrong is in `problem`.
#pragma once

#include <nexuml/recipe.h>
#include <nexuml/schema.h>

#include <concepts>
#include <exception>
#include <ostream>
#include <string>

namespace nexuml::testing {

struct RoundTrip {
  bool same = false;
  std::string problem;

  explicit operator bool() const noexcept { return same; }
  friend std::ostream& operator<<(std::ostream& stream, const RoundTrip& trip) {
    return stream << (trip.same ? "the same" : trip.problem);
  }
};

namespace detail {

// Runs `trip`, which gives what is wrong, or an empty text.
template <class Trip>
RoundTrip try_trip(Trip&& trip) {
  try {
    std::string problem = trip();
    return {problem.empty(), std::move(problem)};
  } catch (const std::exception& failure) {
    return {false, failure.what()};
  } catch (...) {
    return {false, "an exception that is no std::exception"};
  }
}

}  // namespace detail

// Anything that can be a field: a type with a serializer, a described struct, a container of these.
template <class T>
RoundTrip round_trips(const T& value) {
  return detail::try_trip([&]() -> std::string {
    const std::string written = write_json(FieldTraits<T>::encode(value, nullptr));
    Diagnostics problems;
    const Value parsed = parse_json(written, "round trip", problems);
    if (problems.has_errors()) return problems.to_text();
    const Value checked = check_value(FieldTraits<T>::node(), parsed, {}, problems);
    if (problems.has_errors()) return problems.to_text();
    const T again = FieldTraits<T>::decode(checked, nullptr);
    const std::string rewritten = write_json(FieldTraits<T>::encode(again, nullptr));
    if (rewritten != written) return "written " + written + "\nread and written again " + rewritten;
    if constexpr (requires {
                    { again == value } -> std::same_as<bool>;
                  })
      if (!(again == value)) return "what was read differs from what was written: " + written;
    return {};
  });
}

// The recipe of a registered target's arguments.
template <Described T>
RoundTrip round_trips(const T& arguments, const ComponentRegistry& registry) {
  return detail::try_trip([&]() -> std::string {
    const Recipe recipe = create_model_spec(registry, arguments);
    const Recipe again = create_model_spec_from_json(registry, recipe.to_json(), "round trip");
    if (!(again == recipe)) return "the recipe that was read differs: " + again.to_json();
    if (again.to_json() != recipe.to_json()) return "written again, the recipe differs: " + again.to_json();
    const auto model = registry.make(recipe.kind(), recipe.target(), Value::list(), again.arguments());
    if (!(create_model_spec(registry, *model) == recipe)) return "the arguments that were read differ";
    return {};
  });
}

}  // namespace nexuml::testing
