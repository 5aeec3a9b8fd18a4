// SHA-256, computed step by step, and threads that compute it beside reading or writing.
//
//     Sha256 digest;
//     digest.update(bytes);
//     digest.hex();   // 64 characters
#pragma once

#include <nexuml/export.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

struct evp_md_ctx_st;

namespace nexuml::tensor_io {

class NEXUML_EXPORT Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // The digest of all bytes so far; afterwards the object starts anew.
  std::string hex();

 private:
  evp_md_ctx_st* context_;
};

NEXUML_EXPORT std::string sha256_hex(std::string_view bytes);
// Reads the file in pieces and hashes them beside. Throws E750.
NEXUML_EXPORT std::string sha256_of_file(const std::string& path);
// The same with a digest for every `chunk` bytes, on all cores.
NEXUML_EXPORT std::vector<std::string> sha256_of_chunks(const std::string& path, std::uint64_t chunk);

// Digests of a stream of bytes, computed beside reading or writing it: one of everything, on a thread of its
// own, or one for every `chunk` bytes, on all cores. What is pushed is hashed later: the caller keeps the
// bytes unchanged until `wait` or `finish`. One caller at a time.
class NEXUML_EXPORT StreamDigests {
 public:
  explicit StreamDigests(std::uint64_t chunk = 0);  // 0: everything is one chunk
  ~StreamDigests();
  StreamDigests(const StreamDigests&) = delete;
  StreamDigests& operator=(const StreamDigests&) = delete;

  void push(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);
  void update(std::span<const std::byte> bytes);  // on the calling thread, after all that was pushed
  void wait(std::size_t pending = 0);             // until at most so many bytes are not hashed
  std::vector<std::string> finish();              // waits; one digest a chunk, at least one

 private:
  struct Piece {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  // Its pieces are hashed one after the other, by whichever thread is free.
  struct Chunk {
    Sha256 digest;
    std::deque<Piece> pieces;
    bool taken = false;
  };
  // The chunk that the next bytes belong to, and how many of them. Under the lock.
  std::pair<Chunk*, std::size_t> place_for(std::size_t bytes);
  void start_threads();
  Chunk* find_work();
  void run();

  const std::uint64_t chunk_;
  std::uint64_t in_last_ = 0;  // bytes of the last chunk
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> chunks_;
  std::size_t first_waiting_ = 0;  // all chunks before it are hashed
  std::size_t pending_ = 0;        // bytes that are not hashed yet
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace nexuml::tensor_io
