// The two C structs between a library and its host start with their size and only grow: a library that was
// built with any release finds its fields where they were.
#include <nexuml/registration.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <thread>

TEST_CASE("the fields of the entry structs stand where the first release put them") {
  CHECK(offsetof(nexuml_host_v1, struct_size) == 0);
  CHECK(offsetof(nexuml_host_v1, registration) == 8);
  CHECK(offsetof(nexuml_host_v1, report_failure) == 16);
  CHECK(offsetof(nexuml_host_v1, report_context) == 24);
  CHECK(sizeof(nexuml_host_v1) >= 32);
  CHECK(offsetof(nexuml_library_v1, struct_size) == 0);
  CHECK(offsetof(nexuml_library_v1, register_components) == 8);
  CHECK(sizeof(nexuml_library_v1) >= 16);
  CHECK(std::string(NEXUML_LIBRARY_ENTRY_SYMBOL) == "nexuml_library_entry_v1");
}
