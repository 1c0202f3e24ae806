// SPDX-License-Identifier: MIT
#include "client/cli/output/results.h"

#include <nlohmann/json.hpp>

#include "compiler/base/text/file_name.h"

namespace kiln::cli {
client::Client::FetchHandlers Collect(FetchResult& fetched) {
  return {
      .on_outcome = [&](const client::Outcome& outcome) { fetched.outcomes.push_back(outcome); },
      .on_blob = [&](const client::FetchedBlob& blob) -> Result<void> {
        fetched.blobs.emplace(blob.digest.id, blob.bytes);
        return {};
      }};
}

Result<ByteView> BlobOf(const FetchResult& fetched, const Digest& digest) {
  const auto found = fetched.blobs.find(digest.id);
  if (found == fetched.blobs.end()) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = "the daemon did not send " + digest.id.hex(),
                 .reason = {}};
  }
  return ByteView(found->second);
}

nlohmann::ordered_json IndexRow(const client::Artifact& artifact) {
  nlohmann::ordered_json code = nlohmann::ordered_json::object();
  for (const client::StageCode& stage : artifact.code) {
    const std::string name = StageName(stage.stage);
    code[name.empty() ? "program" : name] = stage.digest.id.hex();
  }
  return {{"signature", artifact.signature},
          {"target", artifact.target},
          {"code", code},
          {"metadata", artifact.metadata.id.hex()},
          {"layout_hash", artifact.layout_hash}};
}

nlohmann::ordered_json OptionsJson(const std::vector<client::Option>& options) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const client::Option& option : options) {
    std::visit([&](const auto& value) { object[option.name] = value; }, option.value);
  }
  return object;
}

std::string_view OutcomeName(client::OutcomeKind kind) {
  switch (kind) {
    case client::OutcomeKind::kOk:
      return "ok";
    case client::OutcomeKind::kSourceError:
      return "source_error";
    case client::OutcomeKind::kLimit:
      return "limit";
    case client::OutcomeKind::kPoison:
      return "poison";
    case client::OutcomeKind::kUnknown:
      break;
  }
  return "unknown";
}

nlohmann::ordered_json ItemJson(const ItemOf& item) {
  using Json = nlohmann::ordered_json;
  static constexpr std::string_view kOrigins[] = {"",      "compiled", "memory",
                                                  "local", "upstream", "shared"};
  const client::Artifact none;
  const client::Artifact& artifact = item.artifact == nullptr ? none : *item.artifact;
  Json code = Json::array();
  for (const client::StageCode& stage : artifact.code) {
    const auto path = item.paths.find(stage.digest.id);
    code.push_back({{"stage", StageName(stage.stage)},
                    {"id", stage.digest.id.hex()},
                    {"bytes", stage.digest.size},
                    {"path", path == item.paths.end() ? Json() : Json(path->second)}});
  }
  Json artifacts = Json::array();
  if (item.artifact != nullptr) {
    artifacts.push_back(
        {{"target", artifact.target}, {"code", code}, {"metadata", artifact.metadata.id.hex()}});
  }
  return {{"v", 1},
          {"type", "item"},
          {"program", item.program},
          {"options", OptionsJson(item.options)},
          {"served", item.served},
          {"outcome", OutcomeName(item.outcome.kind)},
          {"origin", kOrigins[static_cast<size_t>(artifact.origin)]},
          {"signature", artifact.signature},
          {"live_options", artifact.live_options},
          {"artifacts", artifacts},
          {"cpu_ms", static_cast<double>(artifact.cpu_us) / 1000.0}};
}

std::string FileStem(std::string_view program, std::string_view signature) {
  constexpr size_t kShownOfASignature = 8;
  return FileNameOf(program) + "." + FileNameOf(signature.substr(0, kShownOfASignature));
}

std::string StageName(client::Stage stage) {
  switch (stage) {
    case client::Stage::kNone:
      return {};
    case client::Stage::kVertex:
      return "vertex";
    case client::Stage::kFragment:
      return "fragment";
    case client::Stage::kCompute:
      return "compute";
  }
  return {};
}

}  // namespace kiln::cli
