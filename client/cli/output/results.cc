// SPDX-License-Identifier: MIT
#include "client/cli/output/results.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/failure.h"
#include "client/cli/global.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "compiler/base/text/file_name.h"

namespace kiln::cli {
// Everything stays in memory, which is right for the results of one program or variant. A fetch of
// a project writes its blobs as they come instead.
client::Client::FetchHandlers Collect(FetchResult& fetched) {
  return {
      .on_outcome = [&](const client::Outcome& outcome) { fetched.outcomes.push_back(outcome); },
      .on_blob = [&](const client::FetchedBlob& blob) -> Result<void> {
        // Several outcomes may lead to one blob. The first copy is kept, and by its id they are
        // equal.
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
    // A combined module has no stage, and a member of a JSON object needs a name.
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
    // The type of the value becomes the type of the JSON member: true and not "true".
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
    // A kind that a newer daemon knows. The word is honest, and scripts that test for "ok" are
    // right about it.
    case client::OutcomeKind::kUnknown:
      break;
  }
  return "unknown";
}

int OutcomeExit(const Global& global, const std::string& program, const client::Outcome& outcome,
                size_t errors) {
  if (errors != 0) {
    return kWrongSource;
  }
  if (outcome.kind == client::OutcomeKind::kOk && !outcome.artifacts.empty()) {
    return kSuccess;
  }
  // A daemon of another age, or a hostile one: whether the source is wrong nobody knows, and what
  // was asked for is not there.
  const bool known =
      outcome.kind != client::OutcomeKind::kOk && outcome.kind != client::OutcomeKind::kUnknown;
  const int exit = known ? kWrongSource : kPartial;
  const std::string message =
      fmt::format("the daemon has no artifact of '{}' and gives no reason; it says '{}'", program,
                  OutcomeName(outcome.kind));
  if (global.json) {
    PrintLine(JsonOf(ErrorRow{.reason = "RESULTS_MISSING", .message = message, .exit = exit}));
  } else {
    Print(stderr, "error: {}\n", Message{message});
  }
  return exit;
}

// The members and their order are fixed by spec/cli 7.1 and by docs/schema.
nlohmann::ordered_json ItemJson(const ItemOf& item) {
  using Json = nlohmann::ordered_json;
  // In the order of client::Origin; empty for an outcome without an artifact.
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
                    // null where no file was written, so that every item has the same members.
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

// Eight digits of the signature keep the variants of one program apart and names short. The full
// signature is in index.json.
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
