#include "track/event_file.h"

#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

namespace nexuml {

namespace {

// Fields of tensorflow/core/util/event.proto and framework/summary.proto.
namespace event_field {
enum Event : std::uint32_t { wall_time = 1, step = 2, file_version = 3, summary = 5 };
enum SummaryValue : std::uint32_t {
  tag = 1,
  simple_value = 2,
  image = 4,
  histogram = 5,
  tensor = 8,
  metadata = 9
};
enum Histogram : std::uint32_t {
  low = 1,
  high = 2,
  count = 3,
  sum = 4,
  sum_squares = 5,
  limits = 6,
  bins = 7
};
enum Image : std::uint32_t { height = 1, width = 2, colorspace = 3, encoded = 4 };
enum Tensor : std::uint32_t { dtype = 1, shape = 2, string_value = 8 };
}  // namespace event_field

// The wire format of protocol buffers, as far as events need it.
class WireMessage {
 public:
  void integer(std::uint32_t number, std::uint64_t value) {
    key(number, 0);
    varint(value);
  }
  void float64(std::uint32_t number, double value) {
    key(number, 1);
    raw(value);
  }
  void float32(std::uint32_t number, float value) {
    key(number, 5);
    raw(value);
  }
  void bytes(std::uint32_t number, std::string_view value) {
    key(number, 2);
    varint(value.size());
    text_ += value;
  }
  void doubles(std::uint32_t number, const std::vector<double>& values) {
    key(number, 2);
    varint(values.size() * sizeof(double));
    for (const double value : values) raw(value);
  }
  const std::string& text() const noexcept { return text_; }

 private:
  void key(std::uint32_t number, std::uint32_t type) { varint(std::uint64_t{number} << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value > 127; value >>= 7) text_ += static_cast<char>(value | 128);
    text_ += static_cast<char>(value);
  }
  template <class T>
  void raw(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string text_;
};

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t castagnoli = 0x82f63b78;  // reflected
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? value >> 1 ^ castagnoli : value >> 1;
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::filesystem::path free_name(const std::filesystem::path& folder) {
  const auto seconds = static_cast<std::int64_t>(seconds_now());
  std::filesystem::path path;
  for (int again = 0; again == 0 || std::filesystem::exists(path); ++again)
    path = folder / fmt::format("events.out.tfevents.{}.nexuml.{}", seconds, again);
  return path;
}

// Metadata that tells which dashboard shows a value.
std::string plugin_metadata(std::string_view plugin) {
  WireMessage data, metadata;
  data.bytes(1, plugin);
  metadata.bytes(1, data.text());
  return metadata.text();
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t value = ~0U;
  for (const char c : bytes) value = crc_table[(value ^ static_cast<unsigned char>(c)) & 255] ^ value >> 8;
  return ~value;
}

EventFile::EventFile(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  path_ = free_name(folder);
  file_.open(path_, std::ios::binary);
  if (!file_)
    throw Error("E849", "the event file of TensorBoard cannot be made", Where::in_file(path_.string()),
                "check logging.tensorboard.log_dir");
  WireMessage event;
  event.float64(event_field::wall_time, seconds_now());
  event.bytes(event_field::file_version, "brain.Event:2");
  write_record(event.text());
}

// length, its checksum, the event, its checksum.
void EventFile::write_record(const std::string& event) {
  const std::uint64_t length = event.size();
  const std::uint32_t length_crc = masked_crc(bytes_of(length)), event_crc = masked_crc(event);
  std::string record(bytes_of(length));
  record += bytes_of(length_crc);
  record += event;
  record += bytes_of(event_crc);
  file_.write(record.data(), static_cast<std::streamsize>(record.size()));
  file_.flush();
  if (!file_)
    throw Error("E849", "the event file cannot be written", Where::in_file(path_.string()),
                "free some space");
}

void EventFile::add_summary(const std::string& value, std::int64_t step) {
  WireMessage summary, event;
  summary.bytes(1, value);
  event.float64(event_field::wall_time, seconds_now());
  event.integer(event_field::step, static_cast<std::uint64_t>(step));
  event.bytes(event_field::summary, summary.text());
  write_record(event.text());
}

void EventFile::scalar(const std::string& tag, double value, std::int64_t step) {
  WireMessage message;
  message.bytes(event_field::tag, tag);
  message.float32(event_field::simple_value, static_cast<float>(value));
  add_summary(message.text(), step);
}

void EventFile::histogram(const std::string& tag, std::span<const float> values, std::int64_t step) {
  constexpr std::size_t bin_count = 30;
  std::vector<double> finite;
  finite.reserve(values.size());
  double sum = 0, squares = 0;
  for (const float value : values)
    if (std::isfinite(value)) {
      finite.push_back(value);
      sum += value;
      squares += static_cast<double>(value) * value;
    }
  if (finite.empty()) return;
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const double width = *high > *low ? (*high - *low) / bin_count : 1.0 / bin_count;
  std::vector<double> limits, counts(bin_count, 0);
  for (std::size_t i = 1; i <= bin_count; ++i) limits.push_back(*low + width * static_cast<double>(i));
  for (const double value : finite)
    ++counts[std::min(static_cast<std::size_t>((value - *low) / width), bin_count - 1)];
  WireMessage histogram, message;
  histogram.float64(event_field::low, *low);
  histogram.float64(event_field::high, *high);
  histogram.float64(event_field::count, static_cast<double>(finite.size()));
  histogram.float64(event_field::sum, sum);
  histogram.float64(event_field::sum_squares, squares);
  histogram.doubles(event_field::limits, limits);
  histogram.doubles(event_field::bins, counts);
  message.bytes(event_field::tag, tag);
  message.bytes(event_field::histogram, histogram.text());
  add_summary(message.text(), step);
}

void EventFile::image(const std::string& tag, std::string_view png, std::int64_t width, std::int64_t height,
                      std::int64_t step) {
  constexpr std::uint64_t rgb = 3;
  WireMessage image, message;
  image.integer(event_field::height, static_cast<std::uint64_t>(height));
  image.integer(event_field::width, static_cast<std::uint64_t>(width));
  image.integer(event_field::colorspace, rgb);
  image.bytes(event_field::encoded, png);
  message.bytes(event_field::tag, tag);
  message.bytes(event_field::image, image.text());
  add_summary(message.text(), step);
}

void EventFile::text(const std::string& tag, std::string_view markdown, std::int64_t step) {
  constexpr std::uint64_t string_type = 7;  // DT_STRING
  WireMessage size, shape, tensor, message;
  size.integer(1, 1);
  shape.bytes(2, size.text());
  tensor.integer(event_field::dtype, string_type);
  tensor.bytes(event_field::shape, shape.text());
  tensor.bytes(event_field::string_value, markdown);
  message.bytes(event_field::tag, tag + "/text_summary");
  message.bytes(event_field::metadata, plugin_metadata("text"));
  message.bytes(event_field::tensor, tensor.text());
  add_summary(message.text(), step);
}

}  // namespace nexuml
