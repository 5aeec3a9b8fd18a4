// Built with the SDK, but no source of it says NEXUML_LIBRARY.
int unused_function() {
  return 1;
}
