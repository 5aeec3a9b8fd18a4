#include "host/taken_names.h"

namespace nexuml {
namespace {

// Words with a blank on each side.
constexpr std::string_view keywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename typeof "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq ";

// Compilers and C headers define these.
constexpr std::string_view macros =
    " linux unix i386 assert errno stdin stdout stderr EOF NULL NAN INFINITY HUGE_VAL BUFSIZ FILE TRUE FALSE "
    "EXIT_SUCCESS EXIT_FAILURE ";

// Whose names would meet ours in one namespace.
constexpr std::string_view namespaces = " std nexuml torch at c10 caffe2 tbb oneapi main ";

// A namespace cannot have the name of a function that C headers declare: those that are words.
constexpr std::string_view functions =
    " abort abs accept access acos alarm asin atan atexit atof atoi atol bind bsearch calloc cbrt ceil chdir "
    "chmod chown chroot clock close connect cos cosh creat ctime daemon difftime div drand48 dup environ erf "
    "erfc exit exp exp2 expm1 fabs fclose fdim feof fflush floor fma fmax fmin fmod fopen fork fread free "
    "frexp fseek fsync ftell fwrite gamma getenv gmtime hypot ilogb index ioctl isalpha kill labs ldexp "
    "lgamma link listen localtime log log10 log1p log2 logb lrint lround malloc memcpy memset mkdir mktime "
    "modf nan nice open pause perror pipe poll pow printf puts qsort raise rand random read realloc recv "
    "remove remquo rename rewind rindex rint rmdir round scanf select send setenv shutdown signal "
    "significand sin sinh sleep socket sqrt srand stat strlen swab symlink sync syscall sysinfo system tan "
    "tanh tee tgamma time timezone trunc truncate umask uname unlink usleep vfork wait write y0 y1 yn j0 j1 "
    "jn ";

// Targets that CMake and its generators make themselves, and the folder of the built components.
constexpr std::string_view targets =
    " all all_build clean codegen components depend edit_cache experimental continuous nightly help install "
    "list_install_components package package_source preinstall rebuild_cache run_tests test zero_check ";

bool holds(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::string_view owner_of_name(const std::string& name) {
  if (holds(keywords, name)) return "a keyword of C++";
  if (holds(macros, name)) return "a macro of C headers or of the compiler";
  if (name.find("__") != std::string::npos) return "reserved for the compiler, as every name with '__'";
  return {};
}

std::string_view owner_of_library_name(const std::string& name) {
  if (holds(namespaces, name)) return "a namespace that the project uses, or main";
  if (holds(functions, name)) return "a function of C";
  if (holds(targets, in_lower_case(name))) return "a target that CMake makes itself";
  return {};
}

}  // namespace nexuml
