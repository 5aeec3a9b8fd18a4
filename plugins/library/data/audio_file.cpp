#include "data/audio_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>
#include <vector>

namespace nexuml_library {

namespace {

constexpr std::int64_t lowest_rate = 1000, highest_rate = 1000000;
constexpr std::int64_t most_channels = 64;

[[noreturn]] void refuse_audio(const std::filesystem::path& path, std::string message,
                               std::string hint = {}) {
  throw nexuml::Error("E831", std::move(message), nexuml::Where::in_file(path.string()), std::move(hint));
}

// A whole file in memory, as libsndfile reads it: through a path it asks the system for 8 KB at a time.
class FileInMemory {
 public:
  // Nothing for a file that is large or cannot be read here: its path says more.
  static std::unique_ptr<FileInMemory> read(const std::filesystem::path& path) {
    constexpr std::uintmax_t most_bytes = 4 << 20;
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    if (failure || size == 0 || size > most_bytes) return nullptr;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"), &std::fclose};
    if (!file) return nullptr;
    std::setvbuf(file.get(), nullptr, _IONBF, 0);
    auto memory = std::make_unique<FileInMemory>();
    memory->bytes_ = std::make_unique_for_overwrite<char[]>(size);
    memory->size_ = static_cast<sf_count_t>(std::fread(memory->bytes_.get(), 1, size, file.get()));
    return memory->size_ == static_cast<sf_count_t>(size) ? std::move(memory) : nullptr;
  }

  SNDFILE* open(SF_INFO& header) {
    SF_VIRTUAL_IO calls{
        .get_filelen = [](void* self) { return of(self).size_; },
        .seek = [](sf_count_t offset, int whence, void* self) { return of(self).seek(offset, whence); },
        .read = [](void* to, sf_count_t count, void* self) { return of(self).take(to, count); },
        .write = [](const void*, sf_count_t, void*) { return sf_count_t{0}; },
        .tell = [](void* self) { return of(self).at_; }};
    return sf_open_virtual(&calls, SFM_READ, &header, this);
  }

 private:
  static FileInMemory& of(void* self) { return *static_cast<FileInMemory*>(self); }
  sf_count_t seek(sf_count_t offset, int whence) {
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at_ : size_;
    sf_count_t place = 0;  // as in a file it may lie behind the end
    if (__builtin_add_overflow(from, offset, &place) || place < 0) return -1;
    return at_ = place;
  }
  sf_count_t take(void* to, sf_count_t count) {
    const sf_count_t taken = std::clamp<sf_count_t>(count, 0, std::max<sf_count_t>(size_ - at_, 0));
    if (taken == 0) return 0;
    std::memcpy(to, bytes_.get() + at_, static_cast<std::size_t>(taken));
    at_ += taken;
    return taken;
  }

  std::unique_ptr<char[]> bytes_;
  sf_count_t size_ = 0, at_ = 0;
};

struct OpenAudio {
  std::unique_ptr<FileInMemory> memory;  // outlives `file`, which reads it
  std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file;
  AudioInfo info;
  bool floating = false;  // may hold samples that are no finite numbers
};

enum class Wanted { header, samples };

OpenAudio open_audio(const std::filesystem::path& path, Wanted wanted) {
  SF_INFO header{};
  OpenAudio audio{nullptr, {nullptr, &sf_close}, {}, false};
  if (wanted == Wanted::samples) audio.memory = FileInMemory::read(path);
  if (audio.memory) audio.file.reset(audio.memory->open(header));
  if (!audio.file) {  // some formats are known by the name alone
    header = {};
    audio.file.reset(sf_open(path.c_str(), SFM_READ, &header));
  }
  if (!audio.file)
    refuse_audio(path, fmt::format("the file is no readable audio: {}", sf_strerror(nullptr)),
                 "convert it to WAV with 16 or 24 bits, or remove it");
  audio.info = {header.frames, header.samplerate, header.channels};
  const int kind = header.format & SF_FORMAT_SUBMASK;
  audio.floating = kind == SF_FORMAT_FLOAT || kind == SF_FORMAT_DOUBLE;
  if (audio.info.sample_rate < lowest_rate || audio.info.sample_rate > highest_rate)
    refuse_audio(path, fmt::format("a sample rate of {} Hz; {} to {} Hz expected", audio.info.sample_rate,
                                   lowest_rate, highest_rate));
  if (audio.info.channels < 1 || audio.info.channels > most_channels)
    refuse_audio(path, fmt::format("{} channels; 1 to {} expected", audio.info.channels, most_channels));
  return audio;
}

// The data chunk of a WAV file may announce more than there is; libsndfile notes it and reads what is there.
bool is_cut_off(SNDFILE* file) {
  char log[2048] = {};
  sf_command(file, SFC_GET_LOG_INFO, log, sizeof log);
  const std::string text = log;
  const std::size_t data = text.find("data : ");
  if (data == std::string::npos) return false;
  const std::string line = text.substr(data, text.find('\n', data) - data);
  return line.find("should be") != std::string::npos;
}

// One row of filter taps for each of the `to` phases. `from` and `to` have no common divisor.
// Formula: torchaudio.functional.resample with resampling_method="sinc_interp_hann".
struct Resampler {
  at::Tensor taps;  // [to, 1, 2 * width + from]
  std::int64_t width;
};

constexpr double lowpass_width = 6, pi = std::numbers::pi;

// The frequency up to which both rates can tell sounds apart, in blocks of `from` samples.
double cutoff(std::int64_t from, std::int64_t to) {
  constexpr double rolloff = 0.99;
  return static_cast<double>(std::min(from, to)) * rolloff;
}
// Samples on either side that a filter looks at.
std::int64_t filter_width(std::int64_t from, std::int64_t to) {
  return static_cast<std::int64_t>(std::ceil(lowpass_width * static_cast<double>(from) / cutoff(from, to)));
}

Resampler make_resampler(std::int64_t from, std::int64_t to) {
  const double base = cutoff(from, to);
  const std::int64_t width = filter_width(from, to);
  const at::Tensor taps = at::arange(-width, width + from, at::kDouble) / static_cast<double>(from);
  const at::Tensor phases = at::arange(0, -to, -1, at::kDouble).view({to, 1, 1}) / static_cast<double>(to);
  const at::Tensor time = ((phases + taps) * base).clamp(-lowpass_width, lowpass_width);
  const at::Tensor window = (time * pi / lowpass_width / 2).cos().square();
  const at::Tensor angle = time * pi;
  const at::Tensor sinc = at::where(angle == 0, at::ones_like(angle), angle.sin() / angle);
  return {(sinc * window * (base / static_cast<double>(from))).to(at::kFloat), width};
}

// Rates without a large common divisor have a filter for each of very many phases: it is computed where it is
// used. The numbers are those of the table, up to rounding.
constexpr std::int64_t most_taps = std::int64_t{1} << 22;

at::Tensor resampled_directly(const at::Tensor& wave, std::int64_t from, std::int64_t to,
                              std::int64_t length) {
  const double base = cutoff(from, to), step = static_cast<double>(from) / static_cast<double>(to);
  const std::int64_t width = filter_width(from, to), frames = wave.size(1);
  at::Tensor result = at::zeros({wave.size(0), length}, at::kFloat);
  std::vector<double> taps(static_cast<std::size_t>(2 * width + 2));
  for (std::int64_t i = 0; i < length; ++i) {
    const double place = static_cast<double>(i) * step;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(place)) - width);
    const auto last = std::min(frames - 1, static_cast<std::int64_t>(std::floor(place)) + width);
    for (std::int64_t k = first; k <= last; ++k) {
      const double time = (static_cast<double>(k) - place) / static_cast<double>(from) * base;
      const double window = std::abs(time) < lowpass_width ? std::cos(time * pi / lowpass_width / 2) : 0.0;
      const double sinc = time == 0 ? 1.0 : std::sin(time * pi) / (time * pi);
      taps[static_cast<std::size_t>(k - first)] = sinc * window * window * base / static_cast<double>(from);
    }
    for (std::int64_t channel = 0; channel < wave.size(0); ++channel) {
      const float* samples = wave.const_data_ptr<float>() + channel * frames;
      double sum = 0;
      for (std::int64_t k = first; k <= last; ++k)
        sum += samples[k] * taps[static_cast<std::size_t>(k - first)];
      result.mutable_data_ptr<float>()[channel * length + i] = static_cast<float>(sum);
    }
  }
  return result;
}

const Resampler& resampler(std::int64_t from, std::int64_t to) {
  static std::mutex mutex;
  static std::map<std::pair<std::int64_t, std::int64_t>, Resampler> made;
  const std::lock_guard lock(mutex);
  const auto found = made.find({from, to});
  if (found != made.end()) return found->second;
  return made.emplace(std::pair(from, to), make_resampler(from, to)).first->second;
}

std::int64_t frames_to_read(const AudioInfo& info, const AudioShape& shape) {
  if (!shape.num_samples) return info.frames;
  // A little more than what is kept: the filter of the resampler looks ahead.
  const std::int64_t wanted =
      (*shape.num_samples * info.sample_rate + shape.sample_rate - 1) / shape.sample_rate +
      info.sample_rate / 100;
  return std::min(info.frames, info.sample_rate == shape.sample_rate ? *shape.num_samples : wanted);
}

}  // namespace

AudioInfo inspect_audio(const std::filesystem::path& path) {
  const OpenAudio audio = open_audio(path, Wanted::header);
  AudioInfo info = audio.info;
  info.cut_off = is_cut_off(audio.file.get());
  return info;
}

namespace {

// Fills `samples` with interleaved frames and gives how many there were.
std::int64_t read_frames(const OpenAudio& audio, const std::filesystem::path& path, float* samples,
                         std::int64_t frames) {
  const sf_count_t got = sf_readf_float(audio.file.get(), samples, frames);
  if (got < frames && sf_error(audio.file.get()) != SF_ERR_NO_ERROR)
    refuse_audio(path, fmt::format("the audio breaks off after {} of {} frames: {}", got, frames,
                                   sf_strerror(audio.file.get())));
  if (audio.floating)
    for (std::int64_t i = 0; i < got * audio.info.channels; ++i)
      if (!std::isfinite(samples[i]))
        refuse_audio(path, "the file holds samples that are not finite numbers", "remove or mend the file");
  return got;
}

// Any rate and number of channels: [channels, samples].
at::Tensor converted(const OpenAudio& audio, const std::filesystem::path& path, const AudioShape& shape) {
  const std::int64_t frames = frames_to_read(audio.info, shape);
  at::Tensor interleaved = at::empty({frames, audio.info.channels}, at::kFloat);
  const std::int64_t got = read_frames(audio, path, interleaved.mutable_data_ptr<float>(), frames);
  at::Tensor wave = interleaved.narrow(0, 0, got).t().contiguous();
  if (shape.mono && wave.size(0) > 1) wave = wave.mean(0, true);
  return resample(wave, audio.info.sample_rate, shape.sample_rate);
}

}  // namespace

at::Tensor read_audio(const std::filesystem::path& path, const AudioShape& shape) {
  const at::Tensor wave = converted(open_audio(path, Wanted::samples), path, shape);
  if (!shape.num_samples) return wave;
  const std::int64_t missing = *shape.num_samples - wave.size(1);
  return missing > 0 ? at::constant_pad_nd(wave, {0, missing})
                     : wave.narrow(1, 0, *shape.num_samples).contiguous();
}

void read_audio_into(const std::filesystem::path& path, const AudioShape& shape, const at::Tensor& row) {
  const OpenAudio audio = open_audio(path, Wanted::samples);
  const std::int64_t wanted = shape.num_samples.value();
  if (audio.info.channels == 1 && audio.info.sample_rate == shape.sample_rate && row.numel() == wanted) {
    float* samples = row.mutable_data_ptr<float>();
    const std::int64_t got = read_frames(audio, path, samples, std::min(wanted, audio.info.frames));
    std::fill(samples + got, samples + wanted, 0.0F);
    return;
  }
  const at::Tensor wave = converted(audio, path, shape);
  at::Tensor target = row.dim() == 1 ? row.unsqueeze(0) : row;
  if (wave.size(0) != target.size(0))
    refuse_audio(path, fmt::format("{} channels, the others have {}", wave.size(0), target.size(0)));
  const std::int64_t kept = std::min(wanted, wave.size(1));
  target.narrow(1, 0, kept).copy_(wave.narrow(1, 0, kept));
  target.narrow(1, kept, wanted - kept).zero_();
}

at::Tensor resample(const at::Tensor& wave, std::int64_t from_rate, std::int64_t to_rate) {
  const std::int64_t divisor = std::gcd(from_rate, to_rate);
  const std::int64_t from = from_rate / divisor, to = to_rate / divisor;
  if (from == to || wave.size(1) == 0) return wave;
  const std::int64_t length = (to * wave.size(1) + from - 1) / from;
  if (to * (2 * filter_width(from, to) + from) > most_taps)
    return resampled_directly(wave.contiguous(), from, to, length);
  const Resampler& filter = resampler(from, to);
  const at::Tensor padded = at::constant_pad_nd(wave, {filter.width, filter.width + from}).unsqueeze(1);
  const at::Tensor phases = at::conv1d(padded, filter.taps, {}, from);  // [channels, to, blocks]
  return phases.transpose(1, 2).reshape({wave.size(0), -1}).narrow(1, 0, length).contiguous();
}

}  // namespace nexuml_library
