#include "tools/aflguard/verbs/image_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"
#include "core/system/stop_signal.h"
#include "datasets/folders.h"
#include "firmware_sim/image/build_image.h"
#include "firmware_sim/image/card_check.h"
#include "firmware_sim/image/client_packages.h"
#include "fleet/provisioning/device_key.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kNoFleet = "none";

struct ImageOptions {
  std::string fleet;
  std::string device;
  std::string output;
  std::string size = "2G";
  std::string suite = "bookworm";
  std::vector<std::string> packages;
  bool compress = false;
  bool refresh = false;
  bool json = false;
};

/// What every board of the fleet may know: its authority, its gateway's key, its model.
Status add_public_files(const fleet::Fleet& fleet, std::vector<image::ImageFile>& files) {
  const fleet::FleetFolder& folder = fleet.folder();
  const auto add = [&files](const fs::path& source, const std::string& target) -> Status {
    TRY(std::string content, read_text_file(source));
    files.push_back({target, std::move(content), false});
    return {};
  };
  TRY_STATUS(add(folder.gateway() / "ca.crt", "etc/aflguard/ca.crt"));
  TRY_STATUS(add(folder.gateway() / "gateway.pem", "etc/aflguard/gateway.pem"));
  std::error_code error;
  if (!fs::is_directory(folder.model(), error)) return {};
  for (const auto& entry : fs::directory_iterator(folder.model(), error)) {
    if (!entry.is_regular_file(error)) continue;
    TRY_STATUS(add(entry.path(), "etc/aflguard/model/" + entry.path().filename().string()));
  }
  return {};
}

Status add_fleet(const ImageOptions& options, image::ImageRequest& order) {
  if (options.fleet == kNoFleet) {
    if (options.device.empty()) return {};
    return invalid_input("--device '" + options.device + "' needs the fleet that it belongs to: --fleet DIR");
  }
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  TRY_STATUS(add_public_files(fleet, order.root_files));
  if (options.device.empty()) return {};
  TRY(std::string bundle, fleet::device_bundle(fleet, options.device));
  if (!fleet::has_key(fleet.folder(), options.device)) {
    return invalid_input("the key of '" + options.device +
                         "' was made on its board, which a new card knows nothing of; make the image without "
                         "--device");
  }
  order.boot_files.push_back({image::kIdentityFile, std::move(bundle)});
  return {};
}

Json partition(const char* label, const char* type, std::uint64_t offset, std::uint64_t bytes) {
  return {{"label", label}, {"type", type}, {"offset", offset}, {"bytes", bytes}};
}

void print_json(const ImageOptions& options, const image::BuiltImage& built, double seconds) {
  std::error_code error;
  const image::PartitionPlan& plan = built.plan;
  Json packages = Json::array();
  for (const image::PackageFile& package : built.packages) {
    packages.push_back(
        {{"name", package.name}, {"version", package.version}, {"file", package.file.string()}});
  }
  Json document = {{"schema", "aflguard-image-1"},
                   {"image", fs::absolute(options.output).string()},
                   {"bytes", fs::file_size(options.output, error)},
                   {"card_bytes", plan.image_bytes},
                   {"suite", options.suite}};
  document["partitions"] = {partition(image::kBootLabel, "vfat", plan.boot_offset, plan.boot_bytes),
                            partition(image::kRootLabel, "ext4", plan.root_offset, plan.root_bytes)};
  document["packages"] = std::move(packages);
  document["debian_packages"] = built.debian_packages;
  document["base"] = {{"file", built.base.string()},
                      {"made", to_rfc3339(built.base_made)},
                      {"from_cache", built.base_from_cache}};
  document["fleet"] = options.fleet == kNoFleet ? Json() : Json(options.fleet);
  document["device"] = options.device.empty() ? Json() : Json(options.device);
  document["seconds"] = seconds;
  std::printf("%s\n", document.dump(2).c_str());
}

void print_next_steps(const ImageOptions& options, const image::BuiltImage& built, double seconds) {
  const char* const file = options.output.c_str();
  std::printf("%s: Debian %s for Raspberry Pi 3, 4 and Zero 2 W, %s, made in %.0f s (base of %s%s)\n", file,
              options.suite.c_str(),
              (built.packages.front().name + " " + built.packages.front().version).c_str(), seconds,
              to_rfc3339(built.base_made).c_str(), built.base_from_cache ? ", from the cache" : "");
  if (options.device.empty()) {
    std::printf("It has no identity yet. Write it to a card, then give the card one:\n");
    std::printf("  aflguard image identity /dev/CARD --fleet DIR --device NAME\n");
  } else {
    std::printf("It carries the identity of '%s': write it to one card only, and keep it secret.\n",
                options.device.c_str());
  }
  std::printf("docs/flash-a-fleet.md has every step.\n");
}

Status build(const ImageOptions& options) {
  image::ImageRequest order;
  order.output = options.output;
  order.suite = options.suite;
  order.compress = options.compress;
  order.refresh = options.refresh;
  TRY(order.bytes, image::parse_image_size(options.size));
  TRY_STATUS(add_fleet(options, order));
  TRY(order.packages, image::find_client_packages(options.packages));
  TRY(const fs::path cache, datasets::cache_folder());
  TRY(const auto stop, StopSignal::install([] {}));
  StderrProgress progress;
  const auto begin = std::chrono::steady_clock::now();
  TRY(const image::BuiltImage built,
      image::build_image(order, cache / "image", progress, [&stop] { return stop->requested(); }));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.json) {
    print_json(options, built, seconds);
  } else {
    print_next_steps(options, built, seconds);
  }
  return {};
}

Status identity(const ImageOptions& options) {
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  TRY(std::string bundle, fleet::device_bundle(fleet, options.device));
  TRY(const std::uint64_t offset, image::find_boot_partition(options.output));
  TRY_STATUS(image::prepare_card(options.output, offset));
  TRY_STATUS(image::put_boot_file(options.output, offset, {image::kIdentityFile, std::move(bundle)}));
  if (options.json) {
    const Json document = {{"schema", "aflguard-image-identity-1"},
                           {"image", options.output},
                           {"device", options.device},
                           {"file", image::kIdentityFile}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("%s: the board that starts from it becomes '%s'%s\n", options.output.c_str(),
                options.device.c_str(),
                fleet::has_key(fleet.folder(), options.device)
                    ? "."
                    : ". It must have its key already: it was made on the board.");
  }
  return {};
}

void add_build(CLI::App& image, const std::shared_ptr<ImageOptions>& options, Action& action) {
  CLI::App* verb =
      image.add_subcommand("build", "Make an image for the cards of Raspberry Pi 3, 4 and Zero 2 W");
  verb->add_option("--fleet", options->fleet,
                   "The fleet's folder, or none: boards learn theirs from their identity")
      ->envname("AFLGUARD_FLEET")
      ->required();
  verb->add_option("--device", options->device,
                   "Put this device's identity into the image; for one board only");
  verb->add_option("-o,--output", options->output, "The image to write")->required();
  verb->add_option("--size", options->size, "Its size; boards grow it to their card")
      ->check([](const std::string& text) {
        const auto size = image::parse_image_size(text);
        return size.ok() ? std::string() : size.error().message;
      })
      ->capture_default_str();
  verb->add_option("--suite", options->suite, "The Debian release")->capture_default_str();
  verb->add_option(
          "--deb", options->packages,
          "One of our packages for arm64, aflguard-client among them; otherwise what ./run package has made")
      ->allow_extra_args(false);
  verb->add_flag("--compress", options->compress, "Write an .img.xz");
  verb->add_flag("--refresh", options->refresh, "Fetch Debian's packages again, not from the cache");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Images were booted in QEMU; no real board has been tried. docs/flash-a-fleet.md says what was "
      "done.\n\n"
      "The first build sets Debian's packages up under emulation, which takes some minutes;\n"
      "they are kept in the cache for 30 days. No loop devices, no mounts on this machine.\n\nExample:\n"
      "  aflguard image build --fleet none -o board.img\n"
      "  aflguard image build --fleet greenhouse --device pi-1 -o pi-1.img");
  verb->callback([options, &action] { action = [options] { return build(*options); }; });
}

void add_identity(CLI::App& image, const std::shared_ptr<ImageOptions>& options, Action& action) {
  CLI::App* verb =
      image.add_subcommand("identity", "Put a device's identity on the boot partition of an image or a card");
  verb->add_option("image", options->output, "An image file, or a card's device (/dev/...)")->required();
  verb->add_option("--fleet", options->fleet, "The fleet's folder")->envname("AFLGUARD_FLEET")->required();
  verb->add_option("--device", options->device, "An enrolled device")->required();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer("Example:\n  aflguard image identity /dev/sdX --fleet greenhouse --device pi-1");
  verb->callback([options, &action] { action = [options] { return identity(*options); }; });
}

}  // namespace

void add_image_verbs(CLI::App& app, Action& action) {
  auto options = std::make_shared<ImageOptions>();
  CLI::App* image = app.add_subcommand("image", "Make images for boards' cards, and give them identities");
  image->require_subcommand(1);
  image->footer("Example:\n  aflguard image build --fleet none -o board.img");
  add_build(*image, options, action);
  add_identity(*image, options, action);
}

}  // namespace aflguard::cli
