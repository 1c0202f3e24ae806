// SPDX-License-Identifier: MIT
// Where an engine gets the results of kiln from: a pack that is mapped, results that a daemon sent,
// or bytes that it has. Pipelines ask for words when they build, on their own threads. spec/pso 9
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/artifact/metadata_enums.h"
#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "runtime/vk/pass_signature.h"

namespace kiln::runtime {

// Of exactly the declared type: flag, uint, sint, float, enum.
struct OptionSetting {
  std::string name;
  std::variant<bool, uint32_t, int32_t, float, std::string> value;

  friend bool operator==(const OptionSetting&, const OptionSetting&) = default;
};

// The module of a stage; no stage: of all stages.
struct CodeRef {
  std::optional<artifact::Stage> stage;
  Digest digest;
};

struct SourceArtifact {
  std::string program;
  Digest metadata;
  std::vector<CodeRef> code;
  std::vector<OptionSetting> options = {};  // as Find was asked, to be asked again
};

// Bytes and what keeps them alive.
struct SourceBytes {
  ByteView bytes;
  std::shared_ptr<const void> owner;  // null: they live as long as the source
};

// An image and a sampler that a pipeline was seen with; drivers that compile at the first draw look
// at them. See spec/pso 7.5.1, 9.2
struct ImageHint {
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t sampler_class = 0;  // bit 0: nearest, bit 1: clamp to the edge, bit 2: comparison
  VkFormat format = VK_FORMAT_UNDEFINED;
};

enum class Lane : uint8_t { kCritical, kSoon, kBackground };
inline constexpr size_t kLanes = 3;

// A pipeline worth building before the first frame.
struct WarmItem {
  SourceArtifact artifact;
  std::optional<PassSignature> signature;  // nullopt: that of spec/pso 5.3
  std::string pass;                        // for messages
  Lane lane = Lane::kSoon;
  std::vector<ImageHint> hints;
};

// Threads: all functions from any thread.
class ArtifactSource {
 public:
  virtual ~ArtifactSource() = default;

  // Verified bytes. Errors: kNotFound, PACK_….
  virtual Result<SourceBytes> Read(const Digest& content) const = 0;

  // The artifact of a variant; options that are not given have their defaults.
  // Errors: kNotFound naming the program or option; kInvalidArgument for a value of another type.
  virtual Result<SourceArtifact> Find(std::string_view program,
                                      std::span<const OptionSetting> options) const = 0;

  // What to build before the first frame, in that order.
  virtual std::vector<WarmItem> WarmList() const = 0;
};

}  // namespace kiln::runtime
