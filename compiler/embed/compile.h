// SPDX-License-Identifier: MIT
// kilnc as a function: sources and option values -> modules and metadata of one variant, in this
// process. No daemon, no file, no cache, no thread; equal inputs give the bytes of `kilnc` and of a
// daemon of the same version. The public face of the component `compiler`: plain values only.
//
//   KILN_TRY(const CompileResult rock, embed::Compile({.sources = {{"rock.rpl", text}},
//                                                 .entries = {{Stage::kVertex, "place"}, …}}));
//   if (!rock.succeeded) { std::fputs(rock.report.c_str(), stderr); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/artifact/metadata_enums.h"
#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::embed {

using artifact::Stage;

enum class Pipeline : uint8_t { kGraphicsClassic, kCompute };
enum class Form : uint8_t { kSpirv, kWgsl };
enum class Debug : uint8_t { kNone, kNames, kFull };
enum class Severity : uint8_t { kError, kWarning, kLint };

struct Source {
  std::string path;  // ends in .rpl, .hlsl or .wgsl; what messages call it
  std::string text;
};

struct EntryPoint {
  Stage stage = Stage::kVertex;
  std::string function;
};

// Of exactly the declared type: flag, uint, sint, float, enum.
struct Option {
  std::string name;
  std::variant<bool, uint32_t, int32_t, float, std::string> value;
};

struct CompileRequest {
  std::vector<Source> sources;  // link order
  Pipeline pipeline = Pipeline::kGraphicsClassic;
  std::vector<EntryPoint> entries;  // none: metadata only
  std::vector<Option> options;      // those that are left out have their defaults
  std::string environment = "vulkan1.1";
  Form form = Form::kSpirv;
  Debug debug = Debug::kNames;
  bool combined = false;  // one module for all entry points
};

// A message and where it stands; line and column count from 1, 0: nowhere.
struct Message {
  Severity severity = Severity::kError;
  std::string code;  // "RPL6022"
  std::string text;
  std::string path;
  uint32_t line = 0, column = 0;
};

struct CompiledModule {
  std::optional<Stage> stage;  // nothing: combined
  Bytes code;                  // words of SPIR-V, or text of WGSL
  Digest digest;
};

struct CompileResult {
  bool succeeded = false;
  std::vector<CompiledModule> modules;  // stage order
  Bytes metadata;                       // PipelineMetadata, serialised
  Digest metadata_digest;
  std::vector<Message> messages;  // errors first; no lints
  std::string report;             // all of them as kilnc prints them, with their lines
};

// Sources that are wrong are no error: the result says so. Memory and time are what the sources ask
// for; a StopScope around the call (compiler/base/threads/stop) sets bounds.
// Errors: kInvalidArgument for no source, a path that no front end reads and an unknown
// environment.
Result<CompileResult> Compile(const CompileRequest& request);

}  // namespace kiln::embed
