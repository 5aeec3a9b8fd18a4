#include "evaluation/class_histogram.h"

#include <fmt/format.h>
#include <nexuml/evaluation.h>

#include <algorithm>
#include <numeric>

#include "evaluation/chart.h"
#include "evaluation/class_numbers.h"
#include "evaluation/table_file.h"

namespace nexuml_library {

namespace {

constexpr std::size_t most_named_classes = 40;  // more names would overlap
constexpr double bar_area = 26;                 // width of one class

// Samples of each class in one split.
struct SplitCounts {
  std::vector<double> classes;
  std::int64_t samples = 0;

  void add(const at::Tensor& labels, const std::string& key) {
    samples += labels.size(0);
    if (labels.dim() == 2 && labels.size(1) > 1) {
      const at::Tensor sums = labels.sum(0).to(at::kCPU, at::kDouble).contiguous();
      grow(static_cast<std::size_t>(sums.numel()));
      for (std::size_t i = 0; i < classes.size(); ++i) classes[i] += sums.const_data_ptr<double>()[i];
      return;
    }
    for (const std::int64_t number : class_numbers(labels, key)) {
      if (number < 0) throw nexuml::Error("E853", fmt::format("'{}' holds the class {}", key, number));
      grow(static_cast<std::size_t>(number) + 1);
      ++classes[static_cast<std::size_t>(number)];
    }
  }
  void grow(std::size_t count) { classes.resize(std::max(classes.size(), count)); }
  double total() const { return std::accumulate(classes.begin(), classes.end(), 0.0); }
  double share(std::size_t index) const { return total() > 0 ? classes[index] / total() : 0; }
};

class HistogramRuntime final : public nexuml::EvalAlgorithm {
 public:
  HistogramRuntime(nexuml::EvalBuildContext context, std::optional<std::string> title)
      : context_(std::move(context)), title_(std::move(title)) {}

  bool needs_fit() const override { return true; }
  void fit_batch(const nexuml::EvalBatch& batch) override { add(train_, batch); }
  void eval_batch(const nexuml::EvalBatch& batch) override { add(test_, batch); }

  void eval_end() override {
    names_ = context_.names_of(key_);
    const std::size_t classes = std::max({names_.size(), train_.classes.size(), test_.classes.size()});
    for (std::size_t i = names_.size(); i < classes; ++i) names_.push_back(std::to_string(i));
    train_.grow(classes);
    test_.grow(classes);
  }

  nexuml::OrderedMap<double> results() const override {
    nexuml::OrderedMap<double> numbers{{"n_classes", static_cast<double>(names_.size())},
                                       {"train_samples", static_cast<double>(train_.samples)},
                                       {"test_samples", static_cast<double>(test_.samples)}};
    const auto& counts = train_.samples > 0 ? train_.classes : test_.classes;
    std::vector<double> present;
    std::copy_if(counts.begin(), counts.end(), std::back_inserter(present),
                 [](double count) { return count > 0; });
    if (!present.empty()) numbers["imbalance_ratio"] = std::ranges::max(present) / std::ranges::min(present);
    return numbers;
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (names_.empty()) return;
    TableFile table({"class", "train", "test", "train_share", "test_share"});
    for (std::size_t i = 0; i < names_.size(); ++i)
      table.add(names_[i], train_.classes[i], test_.classes[i], train_.share(i), test_.share(i));
    write_text(folder / "class_histogram.csv", table.text());
    const double width = std::clamp(160 + bar_area * static_cast<double>(names_.size()), 420.0, 1200.0);
    const double room = room_for_names(width - 80);
    save_figure(folder / "class_histogram", {.width = width, .height = 360 + room}, [&](Canvas& canvas) {
      draw(canvas, {0, 0, width - 80, 360 + room}, room);
    });
  }

 private:
  void add(SplitCounts& counts, const nexuml::EvalBatch& batch) {
    const auto label = class_label(batch, context_);
    if (!label) return;
    key_ = label->key;
    counts.add(label->values, label->key);
  }

  // Names that are wider than their bars are written upwards: the height for them, else 0.
  double room_for_names(double width) const {
    constexpr double letter = 6.2, margins = 80, most_room = 130;
    if (names_.size() > most_named_classes) return 0;
    std::size_t longest = 0;
    for (const std::string& name : names_) longest = std::max(longest, name.size());
    const double needed = letter * static_cast<double>(longest);
    const double slot = (width - margins) / static_cast<double>(names_.size());
    return needed < slot ? 0 : std::min(needed, most_room);
  }

  void draw_name(Canvas& canvas, Point at, const std::string& name, double room) const {
    constexpr double size = 10;
    if (room > 0)
      canvas.text({at.x, at.y + 6}, canvas.fitted(name, size, room),
                  {.size = size, .color = faint_ink, .horizontal = Canvas::end, .upwards = true});
    else
      canvas.text(
          {at.x, at.y + 8}, name,
          {.size = size, .color = faint_ink, .horizontal = Canvas::center, .vertical = Canvas::begin});
  }

  void draw(Canvas& canvas, const Box& box, double room) const {
    double highest = 0.01;
    for (std::size_t i = 0; i < names_.size(); ++i)
      highest = std::max({highest, train_.share(i), test_.share(i)});
    const auto count = static_cast<double>(names_.size());
    const Axes axes(canvas, box, {{-0.5, count - 0.5}, {0, highest * 110}},
                    {.title = title_.value_or(fmt::format("Classes of '{}'", key_)),
                     .x = "class",
                     .y = "share of the split (%)",
                     .x_ticks = names_.size() > most_named_classes,
                     .tick_room = room});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto at = static_cast<double>(i);
      draw_bar(canvas, axes, {at - 0.38, at - 0.02}, train_.share(i), palette_color(0));
      draw_bar(canvas, axes, {at + 0.02, at + 0.38}, test_.share(i), palette_color(1));
      if (names_.size() <= most_named_classes) draw_name(canvas, axes.at(at, 0), names_[i], room);
    }
    draw_legend(canvas, {axes.box().x + axes.box().width + 10, axes.box().y},
                {{"train", palette_color(0)}, {"test", palette_color(1)}});
  }

  static void draw_bar(Canvas& canvas, const Axes& axes, Range across, double share, Color color) {
    const Point corner = axes.at(across.low, share * 100), base = axes.at(across.high, 0);
    canvas.rectangle({corner.x, corner.y, base.x - corner.x, base.y - corner.y}, color);
  }

  const nexuml::EvalBuildContext context_;
  const std::optional<std::string> title_;
  std::string key_;
  std::vector<std::string> names_;
  SplitCounts train_, test_;
};

}  // namespace

void ClassHistogram::describe(nexuml::Schema<ClassHistogram>& s) {
  s.summary("Samples of each class in training and test, as numbers, CSV and a plot.");
  s.field("title", &ClassHistogram::title).doc("Title of the plot; null for one that names the label.");
}

std::shared_ptr<nexuml::EvalAlgorithm> ClassHistogram::build(const nexuml::EvalBuildContext& context) const {
  return std::make_shared<HistogramRuntime>(context, title);
}

}  // namespace nexuml_library
