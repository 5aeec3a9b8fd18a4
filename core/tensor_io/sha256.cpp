#include "tensor_io/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tensor_io/input_file.h"

namespace nexuml::tensor_io {

namespace {

void require_openssl(bool worked) {
  if (!worked) throw std::runtime_error("OpenSSL offers no SHA-256");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require_openssl(context_ && EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_);
}

void Sha256::update(std::span<const std::byte> bytes) {
  require_openssl(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  require_openssl(EVP_DigestFinal_ex(context_, digest.data(), &length) == 1);
  require_openssl(EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : std::span(digest).first(length)) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

std::string sha256_of_file(const std::string& path) {
  return sha256_of_chunks(path, 0).front();
}

std::vector<std::string> sha256_of_chunks(const std::string& path, std::uint64_t chunk) {
  constexpr std::size_t kPiece = 4u << 20;
  constexpr std::size_t kAhead = 8;  // pieces in memory: one is read while others are hashed
  const auto file = FileInput::open(path);
  StreamDigests digests(chunk);
  for (std::uint64_t offset = 0; offset < file->size(); offset += kPiece) {
    digests.wait((kAhead - 1) * kPiece);
    const auto piece =
        std::make_shared<std::vector<std::byte>>(std::min<std::uint64_t>(kPiece, file->size() - offset));
    file->read(offset, *piece);
    digests.push(*piece, piece);
  }
  return digests.finish();
}

StreamDigests::StreamDigests(std::uint64_t chunk) : chunk_(chunk) {
  chunks_.emplace_back();
}

StreamDigests::~StreamDigests() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Few bytes are hashed by `update`, and need none.
void StreamDigests::start_threads() {
  const unsigned wanted = chunk_ == 0 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  while (threads_.size() < wanted) threads_.emplace_back([this] { run(); });
}

std::pair<StreamDigests::Chunk*, std::size_t> StreamDigests::place_for(std::size_t bytes) {
  if (chunk_ == 0) return {&chunks_.front(), bytes};
  if (in_last_ == chunk_) {
    chunks_.emplace_back();
    in_last_ = 0;
  }
  const std::size_t fits = std::min<std::uint64_t>(bytes, chunk_ - in_last_);
  in_last_ += fits;
  return {&chunks_.back(), fits};
}

void StreamDigests::push(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  start_threads();
  {
    const std::lock_guard lock(mutex_);
    pending_ += bytes.size();
    while (!bytes.empty()) {
      const auto [chunk, fits] = place_for(bytes.size());
      chunk->pieces.push_back({bytes.first(fits), owner});
      bytes = bytes.subspan(fits);
    }
  }
  changed_.notify_all();
}

void StreamDigests::update(std::span<const std::byte> bytes) {
  wait();
  while (!bytes.empty()) {
    Chunk* chunk = nullptr;
    std::size_t fits = 0;
    {
      const std::lock_guard lock(mutex_);
      std::tie(chunk, fits) = place_for(bytes.size());
    }
    chunk->digest.update(bytes.first(fits));  // nothing waits, so no thread looks at it
    bytes = bytes.subspan(fits);
  }
}

void StreamDigests::wait(std::size_t pending) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pending_ <= pending; });
}

std::vector<std::string> StreamDigests::finish() {
  wait();
  const std::lock_guard lock(mutex_);
  std::vector<std::string> digests;
  for (Chunk& chunk : chunks_) digests.push_back(chunk.digest.hex());
  return digests;
}

StreamDigests::Chunk* StreamDigests::find_work() {
  while (first_waiting_ + 1 < chunks_.size() && !chunks_[first_waiting_].taken &&
         chunks_[first_waiting_].pieces.empty())
    ++first_waiting_;
  for (std::size_t i = first_waiting_; i < chunks_.size(); ++i)
    if (!chunks_[i].taken && !chunks_[i].pieces.empty()) return &chunks_[i];
  return nullptr;
}

void StreamDigests::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    Chunk* chunk = nullptr;
    changed_.wait(lock, [&] { return stopping_ || (chunk = find_work()) != nullptr; });
    if (stopping_) return;
    Piece piece = std::move(chunk->pieces.front());
    chunk->pieces.pop_front();
    chunk->taken = true;
    lock.unlock();
    chunk->digest.update(piece.bytes);
    piece.owner.reset();
    lock.lock();
    chunk->taken = false;
    pending_ -= piece.bytes.size();
    changed_.notify_all();
  }
}

}  // namespace nexuml::tensor_io
