#include "data/download.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <system_error>

// As Debian builds the library: its classes depend on them.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <httplib.h>

#include "data/found_file.h"

namespace nexuml_library {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_unpacked_bytes = std::size_t{1} << 31;

[[noreturn]] void refuse_download(const RemoteFile& file, const fs::path& target,
                                  const std::string& message) {
  throw nexuml::Error(
      "E831", fmt::format("{} was not downloaded: {}", file.url, message),
      nexuml::Where::in_file(target.string()),
      "fetch it by other means and put it there; a started download goes on with the next try");
}

std::string digest_of_file(const fs::path& path, const EVP_MD* kind) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestInit_ex(digest.get(), kind, nullptr);
  std::ifstream file(path, std::ios::binary);
  std::string buffer(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    EVP_DigestUpdate(digest.get(), buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(digest.get(), bytes, &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

std::string md5_of_file(const fs::path& path) {
  return digest_of_file(path, EVP_md5());
}

// The file in the making, locked against other processes.
class PartFile {
 public:
  explicit PartFile(const fs::path& target) : path_(target) {
    path_ += ".part";
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~PartFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  const fs::path& path() const noexcept { return path_; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(::lseek(descriptor_, 0, SEEK_END)); }
  void clear() {
    if (::ftruncate(descriptor_, 0) != 0) return;
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  bool append(const char* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t written = ::write(descriptor_, bytes, count);
      if (written < 0) return false;
      bytes += written;
      count -= static_cast<std::size_t>(written);
    }
    return true;
  }

 private:
  fs::path path_;
  int descriptor_;
};

struct Address {
  std::string server, path;  // https://example.org:443 and /folder/file
};

Address address_of(const RemoteFile& file) {
  std::string url = file.url;
  if (const char* mirror = std::getenv("NEXUML_DOWNLOAD_MIRROR"); mirror && *mirror)
    url = std::string(mirror) + url.substr(url.rfind('/'));
  const std::size_t host = url.find("://");
  const std::size_t slash = url.find('/', host == std::string::npos ? 0 : host + 3);
  return {url.substr(0, slash), slash == std::string::npos ? "/" : url.substr(slash)};
}

// What is missing of the file, after what is there. The text of a failure; empty where all went well.
std::string fetch_rest(const Address& address, PartFile& part, const nexuml::DataContext& context) {
  httplib::Client client(address.server);
  client.set_follow_location(true);
  client.set_connection_timeout(20);
  client.set_read_timeout(60);
  httplib::Headers headers;
  if (const std::uint64_t have = part.size(); have > 0)
    headers.emplace("Range", fmt::format("bytes={}-", have));
  std::string failure;
  const auto result = client.Get(
      address.path, headers,
      [&](const httplib::Response& response) {
        if (response.status == 200)
          part.clear();  // the server begins anew
        else if (response.status != 206)
          failure = fmt::format("the server answered {}", response.status);
        return failure.empty();
      },
      [&](const char* bytes, std::size_t count) {
        if (context.stop.stop_requested()) failure = "it was stopped";
        if (failure.empty() && !part.append(bytes, count))
          failure = "the file cannot be written; is the disk full?";
        return failure.empty();
      });
  if (failure.empty() && !result) failure = httplib::to_string(result.error());
  return failure;
}

std::uint64_t octal_of(std::string_view digits) {
  std::uint64_t number = 0;
  const std::size_t begin = std::min(digits.find_first_not_of(' '), digits.size());
  std::from_chars(digits.data() + begin, digits.data() + digits.size(), number, 8);
  return number;
}

}  // namespace

void download_file(const RemoteFile& file, const fs::path& target, const nexuml::DataContext& context) {
  std::error_code failure;
  if (fs::is_regular_file(target, failure)) return;
  fs::create_directories(target.parent_path(), failure);
  PartFile part(target);
  if (!part.is_open()) refuse_download(file, target, "its folder cannot be written");
  if (fs::is_regular_file(target, failure)) {  // by another process, meanwhile
    fs::remove(part.path(), failure);
    return;
  }
  const bool whole = part.size() > 0 && md5_of_file(part.path()) == file.md5;
  if (!whole) {
    const bool resumed = part.size() > 0;
    std::string problem = fetch_rest(address_of(file), part, context);
    // What was there may be of another file: once more from the beginning.
    const bool stale = resumed && (problem.find("416") != std::string::npos ||
                                   (problem.empty() && md5_of_file(part.path()) != file.md5));
    if (stale) {
      part.clear();
      problem = fetch_rest(address_of(file), part, context);
    }
    if (!problem.empty()) refuse_download(file, target, problem);
    if (const std::string md5 = md5_of_file(part.path()); md5 != file.md5) {
      part.clear();
      refuse_download(file, target, fmt::format("its MD5 is {}, expected {}", md5, file.md5));
    }
  }
  fs::rename(part.path(), target, failure);
  if (failure) refuse_download(file, target, failure.message());
}

void unpack_tar(const fs::path& archive, const fs::path& folder, const std::vector<std::string>& names) {
  constexpr std::size_t block = 512;
  const std::string bytes = read_bytes(archive, most_unpacked_bytes);
  for (std::size_t at = 0; at + block <= bytes.size() && bytes[at] != '\0';) {
    const std::string_view header = std::string_view(bytes).substr(at, block);
    const std::string name(header.substr(0, std::min(header.find('\0'), std::size_t{100})));
    const std::uint64_t size = octal_of(header.substr(124, 12));
    const char type = header[156];
    at += block;
    if (size > bytes.size() - at)
      throw nexuml::Error("E831", fmt::format("the archive is cut off inside '{}'", name),
                          nexuml::Where::in_file(archive.string()), "fetch it again");
    const std::string last = fs::path(name).filename().string();
    if ((type == '0' || type == '\0') && std::find(names.begin(), names.end(), last) != names.end()) {
      fs::create_directories(folder);
      const fs::path staged = folder / (last + ".part");
      std::ofstream out(staged, std::ios::binary);
      out.write(bytes.data() + at, static_cast<std::streamsize>(size));
      out.close();
      if (!out)
        throw nexuml::Error("E831", "the unpacked file cannot be written",
                            nexuml::Where::in_file(staged.string()), "free some space");
      fs::rename(staged, folder / last);
    }
    at += (size + block - 1) / block * block;
  }
}

void require_checksum(const fs::path& file, const std::optional<std::string>& sum) {
  if (!sum) return;
  std::string wanted = *sum;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  constexpr std::size_t md5_digits = 32, sha256_digits = 64;
  const bool is_hex = wanted.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hex || (wanted.size() != md5_digits && wanted.size() != sha256_digits))
    throw nexuml::Error(
        "E831",
        fmt::format("`checksum` is '{}'; an MD5 of 32 or a SHA-256 of 64 hexadecimal digits is "
                    "expected",
                    *sum),
        nexuml::Where::in_file(file.string()));
  const std::string found = digest_of_file(file, wanted.size() == md5_digits ? EVP_md5() : EVP_sha256());
  if (found != wanted)
    throw nexuml::Error("E831", fmt::format("the file has the sum {}, `checksum` says {}", found, wanted),
                        nexuml::Where::in_file(file.string()), "fetch the file again, or correct the sum");
}

}  // namespace nexuml_library
