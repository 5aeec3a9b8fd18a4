#include "tensor_io/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>
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
  constexpr std::size_t kChunk = 4u << 20;
  const auto file = FileInput::open(path);
  HashingThread hash;
  // One chunk is read while the other is hashed.
  std::array<std::vector<std::byte>, 2> chunks;
  std::size_t turn = 0;
  for (std::uint64_t offset = 0; offset < file->size(); offset += kChunk, turn ^= 1) {
    chunks[turn].resize(std::min<std::uint64_t>(kChunk, file->size() - offset));
    file->read(offset, chunks[turn]);
    hash.wait();
    hash.push(chunks[turn]);
  }
  return hash.finish();
}

HashingThread::HashingThread() : thread_([this] { run(); }) {}

HashingThread::~HashingThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void HashingThread::push(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({bytes, std::move(owner)});
    pending_ += bytes.size();
  }
  changed_.notify_all();
}

void HashingThread::update(std::span<const std::byte> bytes) {
  wait();
  digest_.update(bytes);
}

void HashingThread::wait(std::size_t pending) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pending_ <= pending; });
}

std::string HashingThread::finish() {
  wait();
  return digest_.hex();
}

void HashingThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    digest_.update(task.bytes);
    task.owner.reset();
    lock.lock();
    pending_ -= task.bytes.size();
    changed_.notify_all();
  }
}

}  // namespace nexuml::tensor_io
