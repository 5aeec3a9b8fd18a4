// SHA-256, computed step by step, and a thread that computes it beside reading or writing.
//
//     Sha256 digest;
//     digest.update(bytes);
//     digest.hex();   // 64 characters
#pragma once

#include <nexuml/export.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

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
// Reads the file in chunks and hashes them beside. Throws E750.
NEXUML_EXPORT std::string sha256_of_file(const std::string& path);

// Hashes spans in the order in which they come, on a thread of its own. The caller keeps their bytes
// unchanged until `wait` or `finish`. One caller at a time.
class NEXUML_EXPORT HashingThread {
 public:
  HashingThread();
  ~HashingThread();
  HashingThread(const HashingThread&) = delete;
  HashingThread& operator=(const HashingThread&) = delete;

  void push(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);
  void update(std::span<const std::byte> bytes);  // on the calling thread, after all that was pushed
  void wait(std::size_t pending = 0);             // until at most so many bytes are not hashed
  std::string finish();                           // waits and gives the digest

 private:
  struct Task {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  void run();

  Sha256 digest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::size_t pending_ = 0;  // bytes that are not hashed yet
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace nexuml::tensor_io
