#include "checkpoint/checkpoint_manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor_io/sha256.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t plain_format = 1, chunked_format = 2;

// A name that leads nowhere else.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) { return c != '/' && c != '\\' && c != '\0'; });
}

ManifestFile file_of(const Value::Entry& entry, const fs::path& path) {
  const Value* size = entry.value.find("size");
  const Value* hash = entry.value.find("sha256");
  const Value* chunk = entry.value.find("chunk");
  if (!is_plain_name(entry.key))
    refuse_checkpoint(path, fmt::format("'{}' is no name of a file in this folder", entry.key));
  if (!size || !size->is_integer() || size->as_integer() < 0 || !hash)
    refuse_checkpoint(path, fmt::format("it says no size and sha256 of '{}'", entry.key));
  ManifestFile file{entry.key, static_cast<std::uint64_t>(size->as_integer())};
  if (!chunk && hash->is_string()) {
    file.sha256 = {hash->as_string()};
    return file;
  }
  if (chunk && chunk->is_integer() && chunk->as_integer() > 0 && hash->is_list()) {
    file.chunk = static_cast<std::uint64_t>(chunk->as_integer());
    for (const Value& digest : hash->items())
      if (digest.is_string()) file.sha256.push_back(digest.as_string());
    const std::uint64_t whole = file.size / file.chunk, rest = file.size % file.chunk != 0;
    if (file.sha256.size() == hash->size() && hash->size() == std::max<std::uint64_t>(whole + rest, 1))
      return file;
  }
  refuse_checkpoint(path, fmt::format("its digests of '{}' do not cover the file", entry.key));
}

Value digests_of(const ManifestFile& file) {
  Value entry = Value::map({{"size", static_cast<std::int64_t>(file.size)}});
  if (file.chunk == 0) {
    entry.set("sha256", file.sha256.front());
  } else {
    entry.set("chunk", static_cast<std::int64_t>(file.chunk));
    entry.set("sha256", Value(file.sha256));
  }
  return entry;
}

std::vector<std::string> alias_group(const Value& group, const fs::path& path) {
  std::vector<std::string> names;
  if (group.is_list())
    for (const Value& name : group.items())
      if (name.is_string()) names.push_back(name.as_string());
  if (names.size() < 2 || names.size() != group.size())
    refuse_checkpoint(path, "a group of aliases should list two names and more");
  return names;
}

// Takes the digest out and compares it with one of the rest.
void check_digest(Value& manifest, const fs::path& path) {
  const Value* digest = manifest.find("sha256");
  const std::string recorded = digest && digest->is_string() ? digest->as_string() : std::string();
  manifest.erase("sha256");
  if (recorded != tensor_io::sha256_hex(write_json(manifest)))
    refuse_checkpoint(path, "it was changed after it was written");
}

}  // namespace

void refuse_checkpoint(const fs::path& file, const std::string& reason) {
  throw Error("E763", "the checkpoint cannot be used: " + reason, Where::in_file(file.string()),
              "nothing was changed; choose an earlier index");
}

const ManifestFile* CheckpointManifest::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &ManifestFile::name);
  return found == files.end() ? nullptr : &*found;
}

std::string format_written_json(const Value& value) {
  return write_json(value) + "\n";
}

Value read_written_json(const fs::path& file) {
  Diagnostics problems;
  const std::string text = read_text_file(file.string(), problems);
  Value value = problems.has_errors() ? Value() : parse_json(text, file.string(), problems);
  if (problems.has_errors()) refuse_checkpoint(file, problems.entries().front().message);
  if (!value.is_map())
    refuse_checkpoint(file, "a JSON object expected, found " + describe_for_message(value));
  if (format_written_json(value) != text)
    refuse_checkpoint(file, "its bytes are not those that were written");
  return value;
}

std::string format_manifest(const CheckpointManifest& manifest) {
  Value files = Value::map();
  for (const ManifestFile& file : manifest.files) files.set(file.name, digests_of(file));
  const bool chunked = std::ranges::any_of(manifest.files, [](const auto& file) { return file.chunk != 0; });
  Value document =
      Value::map({{"format", chunked ? chunked_format : plain_format}, {"about", manifest.about}});
  if (!manifest.aliases.empty()) {
    Value aliases = Value::list();
    for (const auto& group : manifest.aliases) aliases.push_back(Value(group));
    document.set("aliases", std::move(aliases));
  }
  document.set("files", std::move(files));
  document.set("sha256", tensor_io::sha256_hex(write_json(document)));
  return format_written_json(document);
}

CheckpointManifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / manifest_file_name;
  Value document = read_written_json(path);
  check_digest(document, path);
  const Value* format = document.find("format");
  if (!format || (*format != Value(plain_format) && *format != Value(chunked_format)))
    refuse_checkpoint(path, fmt::format("format {} or {} expected, found {}", plain_format, chunked_format,
                                        format ? describe_for_message(*format) : "none"));
  CheckpointManifest manifest;
  if (const Value* about = document.find("about")) manifest.about = *about;
  if (const Value* files = document.find("files"); files && files->is_map())
    for (const auto& entry : files->entries()) manifest.files.push_back(file_of(entry, path));
  if (const Value* aliases = document.find("aliases"); aliases && aliases->is_list())
    for (const Value& group : aliases->items()) manifest.aliases.push_back(alias_group(group, path));
  return manifest;
}

}  // namespace nexuml
