// SPDX-License-Identifier: MIT
// pack_pipelines PACK: what an engine does with a pack before its first frame. Asks what device it
// needs, makes every pipeline on the software device, draws each once, and prints the descriptions.
// Whatever the validation layer says fails it.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "runtime/pipeline/device_requirements.h"
#include "runtime/pipeline/pack_source.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/pipeline/print_desc.h"

using namespace kiln;
using namespace kiln::runtime;

namespace {

constexpr std::chrono::minutes kPatience{2};

Result<void> Run(const std::string& path, std::vector<std::string>& messages) {
  KILN_TRY(std::shared_ptr<pack::Pack> pack, pack::Pack::Open(path, {}));
  const auto source = std::make_shared<PackSource>(pack, PackSourceConfig{});
  KILN_TRY(const DeviceRequirements needs, RequirementsOf(*source));
  vk::FeatureChain features;
  KILN_TRY_VOID(EnableFeatures(needs, features));
  for (const DeviceNeed& need : needs.features) {
    if (!need.program.empty()) {
      std::printf("needs %s\n", need.name.c_str());
    }
  }
  KILN_TRY(Device device, Device::Create({.prefer = "software",
                                          .validation = true,
                                          .messages = [&](const vk::Message& message) {
                                            messages.push_back(message.text);
                                          }}));
  KILN_TRY(
      const std::unique_ptr<Pipelines> pipelines,
      Pipelines::Create(
          device, {.threads = 1, .first_use = FirstUse::kOn, .debug_checks = DebugChecks::kOn}));
  pipelines->Load(source);
  std::vector<PipelineId> ids;
  for (const WarmItem& item : source->WarmList()) {
    KILN_TRY(const SourceBytes bytes, source->Read(item.artifact.metadata));
    KILN_TRY(const PipelineMetadata metadata, artifact::DecodeMetadata(bytes.bytes));
    const PassSignature signature =
        item.signature.value_or(DefaultSignature(metadata, device.caps()));
    KILN_TRY(const PipelineId id, pipelines->Find(item.artifact.program, {}, signature));
    ids.push_back(id);
  }
  KILN_TRY(const WarmReport report, pipelines->Wait(pipelines->Warm({}), kPatience));
  for (const WarmFailure& failure : report.failures) {
    messages.push_back(failure.name + ": " + failure.error);
  }
  for (const PipelineId id : ids) {
    std::printf("%s", PrintDesc(pipelines->Desc(id)).c_str());
  }
  std::printf("drawn %u\n", static_cast<unsigned>(report.progress.first_uses));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pack_pipelines PACK\n");
    return 2;
  }
  std::vector<std::string> messages;
  const Result<void> run = Run(argv[1], messages);
  if (!run.ok()) {
    messages.push_back(ErrorText(run.error()));
  }
  for (const std::string& message : messages) {
    std::fprintf(stderr, "%s\n", message.c_str());
  }
  return messages.empty() ? 0 : 1;
}
