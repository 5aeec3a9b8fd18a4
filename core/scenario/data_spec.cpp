#include <fmt/format.h>
#include <nexuml/scenario.h>

#include <cmath>

namespace nexuml {

void TargetSpec::describe(Schema<TargetSpec>& s) {
  s.summary("Describes a label, for the metadata of exports.");
  s.field("type", &TargetSpec::type)
      .doc("multiclass, multilabel, regression, anomaly, or a text of your own.")
      .required();
  s.field("key", &TargetSpec::key).doc("The label.").required();
  s.field("num_classes", &TargetSpec::num_classes).doc("How many classes it tells apart.");
  s.field("num_outputs", &TargetSpec::num_outputs).doc("How many numbers it holds.");
  s.field("positive_fraction", &TargetSpec::positive_fraction).doc("Share of positive samples.");
}

void DatasetSpec::describe(Schema<DatasetSpec>& s) {
  s.summary("One of the data sets that are joined.");
  s.field("source", &DatasetSpec::source).doc("The data source: type, version, params.").required();
  s.field("modality", &DatasetSpec::modality).doc("What the data is; for people.");
  s.field("max_samples", &DatasetSpec::max_samples).doc("Takes at most so many samples.").at_least(0);
  s.field("split_type", &DatasetSpec::split_type)
      .doc("fit, all, keep, or the name of the one split that it goes to, such as test.");
}

void LoaderSpec::describe(Schema<LoaderSpec>& s) {
  s.summary("How batches are made of samples.");
  s.field("backend", &LoaderSpec::backend)
      .doc("The loader: type, version, params.")
      .default_value(Value::map({{"type", "torch"}, {"version", "1"}, {"params", Value::map()}}));
  s.field("batch_size", &LoaderSpec::batch_size)
      .doc("Samples a batch; null takes training.batch_size.")
      .greater_than(0);
  s.field("num_workers", &LoaderSpec::num_workers)
      .doc("Threads that load ahead; 0 loads in the training thread.")
      .at_least(0);
  s.field("prefetch_factor", &LoaderSpec::prefetch_factor)
      .doc("Batches that each worker loads ahead.")
      .at_least(1);
  s.field("persistent_workers", &LoaderSpec::persistent_workers).doc("Workers live on between epochs.");
  s.field("weighted_sampling", &LoaderSpec::weighted_sampling)
      .doc("Draws rare classes as often as frequent ones.");
  s.field("shuffle_train", &LoaderSpec::shuffle_train).doc("Shuffles the training split in every epoch.");
  s.field("drop_last", &LoaderSpec::drop_last)
      .doc("Leaves out a last batch that is not full.")
      .written_when_set();
}

void PreprocessingSpec::describe(Schema<PreprocessingSpec>& s) {
  s.summary("Runs the first part of the pipeline once and trains on what it wrote.");
  s.field("enabled", &PreprocessingSpec::enabled).doc("Whether it is done.");
  s.field("source_view", &PreprocessingSpec::source_view).doc("Not used by NexuML 0.2.1.");
  s.field("target_view", &PreprocessingSpec::target_view).doc("Part of the folder's name.");
  s.field("path", &PreprocessingSpec::path).doc("Folder of the prepared data.");
  s.field("until_x_keys", &PreprocessingSpec::until_x_keys).doc("Runs until these features exist.");
  s.field("until_y_keys", &PreprocessingSpec::until_y_keys).doc("Runs until these labels exist.");
  s.field("x_keys", &PreprocessingSpec::x_keys).doc("Features that are written; null for all.");
  s.field("y_keys", &PreprocessingSpec::y_keys).doc("Labels that are written; null for all.");
  s.field("include_labels", &PreprocessingSpec::include_labels).doc("Whether labels are written.");
  s.field("label_prefix", &PreprocessingSpec::label_prefix).doc("Stands before the name of a label.");
  s.field("writer", &PreprocessingSpec::writer).doc("Looked up only where preprocessing is enabled.");
  s.field("overwrite", &PreprocessingSpec::overwrite).doc("Writes anew what is there already.");
}

void DataSpec::describe(Schema<DataSpec>& s) {
  s.summary("Where samples come from, how they are split and loaded.");
  s.field("source", &DataSpec::source).doc("The one data source, where datasets is empty.");
  s.field("targets", &DataSpec::targets).doc("Labels, described for exports.");
  s.field("train_split", &DataSpec::train_split).doc("Share of the training split.").at_least(0);
  s.field("val_split", &DataSpec::val_split).doc("Share of the validation split.").at_least(0);
  s.field("test_split", &DataSpec::test_split).doc("Share of the test split.").at_least(0);
  s.field("datasets", &DataSpec::datasets).doc("Data sets that are joined.");
  s.field("loader", &DataSpec::loader).doc("How batches are made.");
  s.field("input_shapes", &DataSpec::input_shapes).doc("Feature -> shape of one sample.");
  s.field("num_classes", &DataSpec::num_classes).doc("Classes, for layers that ask.");
  s.field("merge_labels", &DataSpec::merge_labels)
      .doc("Label -> columns of the metadata that it is made of.");
  s.field("feature_key", &DataSpec::feature_key).doc("The main feature.");
  s.field("skip_pipeline_stages", &DataSpec::skip_pipeline_stages).doc("Stages that are left out.");
  s.field("preprocessing", &DataSpec::preprocessing).doc("Prepared data.");
  s.check([](const DataSpec& spec, RuleProblems& problems) {
    const double total = spec.train_split + spec.val_split + spec.test_split;
    if (std::abs(total - 1.0) > 1e-6)
      problems
          .add("train_split",
               fmt::format("train_split + val_split + test_split must sum to 1, found {} + {} + {} = {}",
                           spec.train_split, spec.val_split, spec.test_split, total))
          .hint = "a split that is not written has its default: 0.7, 0.15, 0.15";
  });
}

}  // namespace nexuml
