#include "tools/aflguard/verbs/model_verbs.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "models/zoo/zoo.h"
#include "tools/aflguard/model/model_build.h"
#include "tools/aflguard/model/model_run.h"

namespace aflguard::cli {
namespace {

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const models::ZooEntry& entry : models::zoo()) names.emplace_back(entry.name);
  return names;
}

void add_list(CLI::App& model, Action& action) {
  CLI::App* verb = model.add_subcommand("list", "List the models that come with the project");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Print one JSON document");
  verb->footer("Example: aflguard model list");
  verb->callback([json, &action] { action = [json] { return list_models(*json); }; });
}

void add_build(CLI::App& model, Action& action) {
  CLI::App* verb = model.add_subcommand("build", "Make a model package from the zoo or from an ONNX file");
  auto o = std::make_shared<ModelBuildOptions>();
  auto* source = verb->add_option_group("source", "Where the model comes from (one of them)");
  source->add_option("--zoo", o->zoo, "A model of the zoo")->check(CLI::IsMember(zoo_names()));
  auto* onnx = source->add_option("--onnx", o->onnx, "A forward model in an ONNX file")->type_name("FILE");
  source->require_option(1);
  auto* loss = verb->add_option("--loss", o->loss, "cross-entropy or mse; needed with --onnx")
                   ->check(CLI::IsMember({"cross-entropy", "mse"}));
  onnx->needs(loss);
  verb->add_option("--ops", o->ops,
                   "standard: only ONNX's operators; fused: a second, faster training graph too")
      ->check(CLI::IsMember({"standard", "fused"}))
      ->capture_default_str();
  verb->add_option("--features", o->features, "Length of a feature vector (regressions)")
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--classes", o->classes, "Number of classes (classifiers)")->check(CLI::Range(1, 1000000));
  verb->add_option("--input", o->input, "Image size CxHxW (cnn, resnet20), e.g. 1x64x64");
  verb->add_option(
          "--evaluation-statistics", o->evaluation,
          "What batch normalisation uses in evaluation: those of the batch, or those stored in the file")
      ->check(CLI::IsMember({"batch", "stored"}))
      ->capture_default_str();
  verb->add_option("--labels", o->labels,
                   "Names of the classes, in their order: what tables may have as labels")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb->add_option("--standardise,--standardize", o->standardise,
                   "Scale features by their mean and deviation in this table, inside the model")
      ->type_name("FILE.csv");
  verb->add_option(
          "--calibration", o->calibration,
          "Samples (csv, or npy of features) whose statistics batch normalisation uses in predictions; "
          "256 of them go into the package")
      ->type_name("FILE");
  add_table_options(*verb, o->table);
  verb->add_option("--output", o->output, "Which output to train, where the file has several");
  verb->add_option("--freeze", o->frozen, "Initializers that are not trained")->type_name("NAME ...");
  verb->add_option("--name", o->name, "Name in the manifest (default: zoo name or file name)");
  verb->add_option("-o,--package", o->folder, "Folder to write")->required()->type_name("DIR");
  verb->add_flag("--force", o->force, "Replace the folder if it is a model package");
  verb->add_flag("--json", o->json, "Print one JSON document");
  verb->footer(
      "Examples:\n"
      "  aflguard model build --zoo cnn -o cnn\n"
      "  aflguard model build --zoo resnet20 --input 1x64x64 --classes 8 -o histology\n"
      "  aflguard model build --onnx mine.onnx --loss cross-entropy -o mine\n"
      "  aflguard model build --onnx mine.onnx --loss cross-entropy --labels idle,run --standardise "
      "trusted.csv "
      "-o mine");
  verb->callback([o, &action] { action = [o] { return build_model(*o); }; });
}

CLI::App* add_package_verb(CLI::App& model, const char* name, const char* help, ModelRunOptions& o,
                           bool json = true) {
  CLI::App* verb = model.add_subcommand(name, help);
  verb->add_option("package", o.folder, "Folder of a model package")->required()->type_name("DIR");
  if (json) verb->add_flag("--json", o.json, "Print one JSON document");
  return verb;
}

void add_ops(CLI::App& verb, ModelRunOptions& o) {
  verb.add_option("--ops", o.ops, "Which training graph to run (default: the fastest there is)")
      ->check(CLI::IsMember({"standard", "fused"}));
  verb.add_option("--threads", o.threads, "Threads of ONNX Runtime")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void add_info(CLI::App& model, Action& action) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb = add_package_verb(model, "info", "Show a package's parameters and shapes", *o);
  verb->footer("Example: aflguard model info cnn --json");
  verb->callback([o, &action] { action = [o] { return show_model(*o); }; });
}

void add_init(CLI::App& model, Action& action) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb = add_package_verb(model, "init", "Write a first parameter vector", *o);
  verb->add_option("--seed", o->seed, "Seed of the random values")->capture_default_str();
  verb->add_option("-o,--output", o->output, "File to write")->required()->type_name("theta.npy");
  verb->footer(
      "An imported ONNX model starts from the values in its file.\n\n"
      "Example: aflguard model init cnn --seed 1 -o theta.npy");
  verb->callback([o, &action] { action = [o] { return initialize_theta(*o); }; });
}

void add_gradient(CLI::App& model, Action& action) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb = add_package_verb(model, "gradient", "Gradient of the mean loss over a batch", *o);
  verb->add_option("--theta", o->theta, "Parameters, float32 [d]")->required()->type_name("theta.npy");
  verb->add_option("--x", o->x, "Samples, float32 [B, ...]")->required()->type_name("x.npy");
  verb->add_option("--y", o->y, "Targets: int64 [B] for cross-entropy, float32 [B, ...] for mse")
      ->required()
      ->type_name("y.npy");
  verb->add_option("-o,--output", o->output, "File to write, float32 [d]")
      ->required()
      ->type_name("gradient.npy");
  add_ops(*verb, *o);
  verb->footer("Example: aflguard model gradient cnn --theta theta.npy --x x.npy --y y.npy -o gradient.npy");
  verb->callback([o, &action] { action = [o] { return compute_gradient(*o); }; });
}

void add_predict(CLI::App& model, Action& action) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb = add_package_verb(model, "predict", "Outputs of the model for samples", *o);
  verb->add_option("--theta", o->theta, "Parameters, float32 [d]")->required()->type_name("theta.npy");
  verb->add_option("--x", o->x, "Samples, float32 [B, ...]")->required()->type_name("x.npy");
  verb->add_option("-o,--output", o->output, "File to write, float32 [B, ...]")
      ->required()
      ->type_name("logits.npy");
  verb->add_option("--batch", o->batch, "Samples per run; matters for batch normalisation (default: all)");
  verb->footer("Example: aflguard model predict cnn --theta theta.npy --x x.npy -o logits.npy");
  verb->callback([o, &action] { action = [o] { return predict(*o); }; });
}

void add_export(CLI::App& model, Action& action) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb =
      add_package_verb(model, "export", "Write an ONNX file with the parameters inside, ready to use", *o);
  auto* source = verb->add_option_group("source", "Where the parameters come from (one of them)");
  source->add_option("--theta", o->theta, "Parameters, float32 [d]")->type_name("theta.npy");
  source->add_option("--store", o->store, "A gateway's store; it may be running")->type_name("gateway.db");
  source->require_option(1);
  verb->add_option("-o,--output", o->output, "ONNX file to write")->required()->type_name("model.onnx");
  verb->add_option("--npy", o->npy, "Write the flat parameters too")->type_name("theta.npy");
  verb->add_option(
          "--statistics", o->statistics,
          "Samples whose statistics batch normalisation gets (default: the package's calibration samples)")
      ->type_name("FILE.csv");
  add_table_options(*verb, o->table);
  verb->footer(
      "Input x is [batch, ...], output is logits; a sample alone gets the same logits as in a "
      "batch.\n\nExamples:\n"
      "  aflguard model export cnn --theta theta.npy -o digits.onnx\n"
      "  aflguard model export orchard/model --store orchard/gateway/state/gateway.db -o digits.onnx");
  verb->callback([o, &action] { action = [o] { return export_model(*o); }; });
}

void add_check(CLI::App& model, Action& action) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb = add_package_verb(model, "check", "Compare the gradient with finite differences", *o);
  verb->add_option("--seed", o->seed, "Seed of parameters and samples")->capture_default_str();
  verb->add_option("--batch", o->batch, "Samples in the batch (default: 8)");
  verb->add_option("--tolerance", o->tolerance, "Largest relative error that passes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_ops(*verb, *o);
  verb->footer(
      "Exit code 1 when an error is larger than the tolerance.\n\nExample: aflguard model check cnn");
  verb->callback([o, &action] { action = [o] { return check_model(*o); }; });
}

}  // namespace

void add_model_verbs(CLI::App& app, Action& action) {
  CLI::App* model = app.add_subcommand("model", "Build, inspect and run model packages");
  model->require_subcommand(1);
  model->footer("docs/models.md says which ONNX operators can be trained and what a package holds.");
  add_list(*model, action);
  add_build(*model, action);
  add_info(*model, action);
  add_init(*model, action);
  add_gradient(*model, action);
  add_predict(*model, action);
  add_export(*model, action);
  add_check(*model, action);
}

}  // namespace aflguard::cli
