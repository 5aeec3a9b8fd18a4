// Runs a fuzz target where the compiler has no libFuzzer: every file of the corpus, then changed copies of
// them until the time is over. Understands the options of libFuzzer that the scripts use:
//
//     fuzz-pickle [-max_total_time=10] [-seed=1] FOLDER|FILE...
//
// An input that crashes or takes longer than 10 seconds is written to ./crash-<target>.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t largest_input = 16u << 10;
constexpr unsigned patience = 10;  // seconds an input

// What the signal handler writes down: only calls that a handler may make.
const std::uint8_t* current = nullptr;
std::size_t current_size = 0;
char crash_file[256] = "crash";

void write_down(int signal) {
  const int file = ::open(crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && ::write(file, current, current_size) < 0) ::_exit(4);
  const char message[] = "fuzzing: the input was written to ./";
  if (::write(2, message, sizeof message - 1) < 0 || ::write(2, crash_file, std::strlen(crash_file)) < 0 ||
      ::write(2, "\n", 1) < 0)
    ::_exit(4);
  ::signal(signal, SIG_DFL);
  ::raise(signal == SIGALRM ? SIGABRT : signal);
}

void run(const Bytes& input) {
  // A copy of exactly its size, so that a checker of memory sees a read behind its end.
  const std::vector<std::uint8_t> exact(input.begin(), input.end());
  current = exact.data();
  current_size = exact.size();
  ::alarm(patience);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ::alarm(0);
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, const std::vector<Bytes>& corpus) : random_(seed), corpus_(corpus) {}

  Bytes next() {
    Bytes input = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input);
    if (input.size() > largest_input) input.resize(largest_input);
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void change(Bytes& input) {
    const std::size_t at = below(input.size() + 1);
    switch (below(9)) {
      case 0:
        if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        input.insert(at_place(input, at), 1 + below(8), static_cast<std::uint8_t>(random_()));
        break;
      case 3:
        input.erase(at_place(input, at), at_place(input, std::min(input.size(), at + 1 + below(16))));
        break;
      case 4:
        input.resize(at);
        break;
      case 5:
        repeat(input, at);
        break;
      case 6:
        write_integer(input, at);
        break;
      case 7:
        write_token(input, at);
        break;
      default:
        splice(input, at);
        break;
    }
  }
  static Bytes::iterator at_place(Bytes& input, std::size_t at) {
    return input.begin() + static_cast<std::ptrdiff_t>(at);
  }
  void repeat(Bytes& input, std::size_t at) {
    const std::size_t end = std::min(input.size(), at + 1 + below(32));
    const Bytes piece(at_place(input, at), at_place(input, end));
    for (std::size_t times = 1 + below(4); times > 0; --times)
      input.insert(at_place(input, at), piece.begin(), piece.end());
  }
  // Lengths and offsets are little-endian integers of 2, 4 and 8 bytes.
  void write_integer(Bytes& input, std::size_t at) {
    static constexpr std::uint64_t edges[] = {0,
                                              1,
                                              0x7f,
                                              0x80,
                                              0xff,
                                              0x7fff,
                                              0xffff,
                                              0x7fffffff,
                                              0x80000000,
                                              0xffffffff,
                                              0x7fffffffffffffff,
                                              0x8000000000000000,
                                              0xffffffffffffffff,
                                              0x100000000};
    const std::uint64_t value = edges[below(std::size(edges))] + (below(3) - 1);
    const std::size_t width = std::size_t{2} << below(3);
    for (std::size_t i = 0; i < width && at + i < input.size(); ++i)
      input[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  void write_token(Bytes& input, std::size_t at) {
    static const std::string tokens[] = {"-1",    "0",          "9223372036854775808",
                                         "1e400", "null",       "\"",
                                         "{",     "[",          "]}",
                                         ":",     ",",          "&a",
                                         "*a",    "!!",         "\\u0000",
                                         "\xff",  "PK\x05\x06", "\x80\x05"};
    const std::string& token = tokens[below(std::size(tokens))];
    input.insert(at_place(input, at), token.begin(), token.end());
  }
  void splice(Bytes& input, std::size_t at) {
    const Bytes& other = corpus_[below(corpus_.size())];
    input.resize(at);
    const std::size_t from = below(other.size() + 1);
    input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
  }

  std::mt19937_64 random_;
  const std::vector<Bytes>& corpus_;
};

void read_corpus(const std::filesystem::path& path, std::vector<std::filesystem::path>& files) {
  if (!std::filesystem::is_directory(path)) {
    files.push_back(path);
    return;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
}

}  // namespace

int main(int argc, char** argv) {
  std::snprintf(crash_file, sizeof crash_file, "crash-%s", std::filesystem::path(argv[0]).filename().c_str());
  double seconds = 0;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("-max_total_time="))
      seconds = std::atof(argument.c_str() + 16);
    else if (argument.starts_with("-seed="))
      seed = std::strtoull(argument.c_str() + 6, nullptr, 10);
    else if (!argument.starts_with('-'))
      read_corpus(argument, files);
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) {
    std::fputs("fuzzing: no corpus was given\n", stderr);
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) ::signal(signal, write_down);
  for (const Bytes& input : corpus) run(input);
  Mutator mutator(seed, corpus);
  std::size_t runs = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds)) {
    run(mutator.next());
    ++runs;
  }
  std::printf("%zu files of the corpus, %zu changed inputs, no crash\n", corpus.size(), runs);
  return 0;
}
