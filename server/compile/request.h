// SPDX-License-Identifier: MIT
// What a build is asked for and what it answers, as plain values: the face that rpc, batches and
// tests see. See spec/daemon 3
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/name_list.h"
#include "cache/store.h"
#include "compiler/base/digest.h"
#include "compiler/diag/place.h"
#include "compiler/driver/frontends.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/values/options.h"
#include "compiler/source/file_list.h"
#include "compiler/target/target.h"

namespace kiln::compile {

// A source by digest. The text is there if the request carried it; else the store has it.
struct Source {
  std::string path;  // logical; a label, never opened
  Digest digest;
  std::shared_ptr<const std::string> text;

  // Digests stand for texts.
  friend bool operator==(const Source& a, const Source& b) {
    return a.digest == b.digest && a.path == b.path;
  }
};

// What sources in HLSL need besides their texts; other sources need nothing of it.
struct HlslInputs {
  hlsl::Settings settings = {};                // defines ascending by name, names unique
  std::optional<Digest> list = {};             // of the text of the files that may be included
  std::shared_ptr<const FileList> files = {};  // null: the store has the list, if there is one
  // Macros that are options of the program, ascending by name. Each has a choice in
  // `settings.macros`: the list of defines that modules are read with (macro_choices.h).
  std::vector<hlsl::MacroAxis> macros = {};

  // Digests stand for lists.
  friend bool operator==(const HlslInputs& a, const HlslInputs& b) {
    return a.settings == b.settings && a.list == b.list && a.macros == b.macros;
  }
};

struct NamedTarget {
  std::string name;  // of the manifest, or the form: "spirv"
  target::Target target;
  bool metadata_only = false;                                        // form meta: no code
  target::Environment environment = target::Environment::kVulkan11;  // of recipes
  std::vector<std::string> recipes = {};  // canonical, in order; a translation is the last one

  friend bool operator==(const NamedTarget&, const NamedTarget&) = default;
};

// A program as far as all its variants share it.
struct ProgramRequest {
  std::string name;
  std::vector<Source> sources;  // link order
  ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic;
  std::vector<resolve::EntryPoint> entries;
  std::vector<resolve::OptionSetting> options;  // fixed part
  HlslInputs hlsl = {};

  friend bool operator==(const ProgramRequest&, const ProgramRequest&) = default;
};

enum class OutcomeKind : uint8_t { kOk = 1, kSourceError = 2, kLimit = 3, kPoison = 4 };

// Where an artifact came from; the numbers of the wire (spec/daemon 3).
enum class Origin : uint8_t { kCompiled = 1, kMemory = 2, kLocal = 3, kUpstream = 4, kShared = 5 };

struct StageCodeDigest {
  std::optional<ir::Stage> stage;  // nothing: a combined module
  Digest digest;
};

struct Artifact {
  std::string target;
  std::vector<StageCodeDigest> code;  // stage order
  Digest metadata;
  cache::NameList live_options;  // sorted
  Hash128 layout_hash;
  Hash128 state_id;
  Hash128 signature;
  Origin origin = Origin::kCompiled;
  bool stored = false;        // durable already
  uint64_t cpu_us = 0;        // of the build that made it
  std::string build_id = {};  // of the compiler that did
};

// Content that was made for this answer and is at hand whatever the store did with it.
struct FreshBlob {
  Digest digest;
  cache::Blob blob;
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kOk;
  std::optional<Artifact> artifact;           // kOk
  std::vector<PlacedDiagnostic> diagnostics;  // sorted for reading
  bool from_negative_cache = false;
  std::vector<FreshBlob> fresh;               // code and metadata; only if they were built now
  bool validated = false, optimised = false;  // by recipes of the target, now or earlier
};

}  // namespace kiln::compile
