#include <nexuml/scenario.h>

namespace nexuml {

void TensorBoardSpec::describe(Schema<TensorBoardSpec>& s) {
  s.summary("Logs to TensorBoard.");
  s.field("log_dir", &TensorBoardSpec::log_dir).doc("Folder of the event files.");
}

void DVCLiveSpec::describe(Schema<DVCLiveSpec>& s) {
  s.summary("Logs to DVCLive.");
  s.field("dir", &DVCLiveSpec::dir).doc("Folder that is written.");
}

void MLflowSpec::describe(Schema<MLflowSpec>& s) {
  s.summary("Logs to MLflow.");
  s.field("tracking_uri", &MLflowSpec::tracking_uri).doc("Address of the store.");
  s.field("artifact_location", &MLflowSpec::artifact_location).doc("Where artifacts are kept.");
  s.field("experiment_name", &MLflowSpec::experiment_name).doc("Null takes logging.experiment_name.");
  s.field("log_model", &MLflowSpec::log_model).doc("Whether the model is logged.");
  s.field("run_id", &MLflowSpec::run_id).doc("The run that is continued.");
  s.field("parent_run_id", &MLflowSpec::parent_run_id).doc("The run that this one is nested in.");
  s.field("auto_nested_runs", &MLflowSpec::auto_nested_runs).doc("Nests runs of one name.");
  s.field("tags", &MLflowSpec::tags).doc("Tags of the run.");
  s.field("synchronous", &MLflowSpec::synchronous).doc("Whether each call waits for the store.");
}

void DiagramSpec::describe(Schema<DiagramSpec>& s) {
  s.summary("Draws the pipeline as a Mermaid diagram.");
  s.field("enabled", &DiagramSpec::enabled).doc("Whether it is drawn.");
  s.field("depth", &DiagramSpec::depth).doc("How deep modules inside layers are drawn.");
  s.field("direction", &DiagramSpec::direction).doc("TB from top to bottom, LR from left to right.");
  s.field("show_params", &DiagramSpec::show_params).doc("Shows how many parameters there are.");
  s.field("show_shapes", &DiagramSpec::show_shapes).doc("Shows the shapes at the edges.");
  s.field("show_metrics", &DiagramSpec::show_metrics).doc("Shows losses and metrics.");
  s.field("output_dir", &DiagramSpec::output_dir).doc("Folder of the drawing.");
}

void LoggingSpec::describe(Schema<LoggingSpec>& s) {
  s.summary("Where metrics and artifacts are logged beside the run folder.");
  s.field("tensorboard", &LoggingSpec::tensorboard).doc("TensorBoard, or null.");
  s.field("dvclive", &LoggingSpec::dvclive).doc("DVCLive, or null.");
  s.field("mlflow", &LoggingSpec::mlflow).doc("MLflow, or null.");
  s.field("diagram", &LoggingSpec::diagram).doc("The drawing, or null.");
  s.field("temp_artifact_dir", &LoggingSpec::temp_artifact_dir)
      .doc("Where artifacts lie until they are logged.");
  s.field("experiment_name", &LoggingSpec::experiment_name).doc("Name of the experiment.");
  s.field("run_name", &LoggingSpec::run_name).doc("Name of the run.");
  s.field("log_system_metrics", &LoggingSpec::log_system_metrics).doc("Logs the load of the machine.");
}

}  // namespace nexuml
