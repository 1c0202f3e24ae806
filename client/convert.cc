// SPDX-License-Identifier: MIT
// Between the messages of the protocol and the plain types of the library, field by field. To the
// daemon nothing can go wrong; from the daemon anything may come, so numbers of enumerations, ids
// and lengths are checked, and what is unknown has a value of its own instead of an error: a newer
// daemon must not break an older client (spec/daemon 2.1).
#include "client/convert.h"

#include <algorithm>

#include "client/error_detail.h"
#include "proto/kiln/v1/common.pb.h"

namespace kiln::client {
namespace {

// The plain enumerations have the numbers of the protocol's. Those that a daemon sends are open: a
// newer one may say what this client has no word for. Checked when this is compiled, so that a
// number that changes in the protocol cannot pass unseen.
template <typename Plain>
constexpr bool IsNumber(Plain plain, int number) {
  return static_cast<int>(plain) == number;
}
static_assert(IsNumber(Stage::kNone, v1::EntryPoint::STAGE_UNSPECIFIED) &&
              IsNumber(Stage::kVertex, v1::EntryPoint::VERTEX) &&
              IsNumber(Stage::kFragment, v1::EntryPoint::FRAGMENT) &&
              IsNumber(Stage::kCompute, v1::EntryPoint::COMPUTE));
static_assert(IsNumber(OptionScope::kAny, v1::OptionValue::ANY) &&
              IsNumber(OptionScope::kGlobal, v1::OptionValue::GLOBAL) &&
              IsNumber(OptionScope::kInstance, v1::OptionValue::INSTANCE));
static_assert(IsNumber(Form::kSpirv, v1::Target::SPIRV) &&
              IsNumber(Form::kWgsl, v1::Target::WGSL) && IsNumber(Form::kMeta, v1::Target::META) &&
              IsNumber(Form::kMsl, v1::Target::MSL) && IsNumber(Form::kGlsl, v1::Target::GLSL) &&
              IsNumber(Form::kHlsl, v1::Target::HLSL));
static_assert(IsNumber(Debug::kNone, v1::Target::NONE) &&
              IsNumber(Debug::kNames, v1::Target::NAMES) &&
              IsNumber(Debug::kFull, v1::Target::FULL));
static_assert(IsNumber(Origin::kUnknown, v1::Artifact::ORIGIN_UNSPECIFIED) &&
              IsNumber(Origin::kCompiled, v1::Artifact::COMPILED) &&
              IsNumber(Origin::kMemory, v1::Artifact::MEMORY) &&
              IsNumber(Origin::kLocal, v1::Artifact::LOCAL) &&
              IsNumber(Origin::kUpstream, v1::Artifact::UPSTREAM) &&
              IsNumber(Origin::kShared, v1::Artifact::SHARED));
static_assert(IsNumber(OutcomeKind::kUnknown, v1::Outcome::KIND_UNSPECIFIED) &&
              IsNumber(OutcomeKind::kOk, v1::Outcome::OK) &&
              IsNumber(OutcomeKind::kSourceError, v1::Outcome::SOURCE_ERROR) &&
              IsNumber(OutcomeKind::kLimit, v1::Outcome::LIMIT) &&
              IsNumber(OutcomeKind::kPoison, v1::Outcome::POISON));

// A number above `last` is what 0 is: unknown.
template <typename Plain>
Plain Known(int number, Plain last) {
  const bool known = number >= 0 && number <= static_cast<int>(last);
  return known ? static_cast<Plain>(number) : Plain{};
}

// Begin and end come from a peer and may be turned around.
PlacedSpan SpanOf(const v1::Diagnostic::Label& label) {
  PlacedSpan span;
  span.path = label.path();
  span.bytes = {.begin = label.begin(), .end = std::max(label.begin(), label.end())};
  span.line = label.line();
  span.column = label.column();
  span.end_line = label.line();
  // Labels do not span lines on the wire.
  span.end_column = label.column() + (span.bytes.end - span.bytes.begin);
  return span;
}

Severity SeverityOf(v1::Diagnostic::Severity severity) {
  switch (severity) {
    case v1::Diagnostic::WARNING:
      return Severity::kWarning;
    case v1::Diagnostic::LINT:
      return Severity::kLint;
    default:  // proto enums are open: an unknown severity is shown as an error
      return Severity::kError;
  }
}

Artifact ArtifactOf(const v1::Artifact& message) {
  Artifact artifact;
  artifact.target = message.target();
  for (const v1::StageCode& code : message.code()) {
    // A digest without an id becomes the empty one, which no content has: whoever looks for it
    // reports what is missing.
    const Result<Digest> digest = FromProto(code.digest());
    artifact.code.push_back({.stage = Known(code.stage(), Stage::kCompute),
                             .digest = digest.ok() ? *digest : Digest{}});
  }
  const Result<Digest> metadata = FromProto(message.metadata());
  artifact.metadata = metadata.ok() ? *metadata : Digest{};
  artifact.live_options.assign(message.live_options().begin(), message.live_options().end());
  artifact.layout_hash = HexOf(message.layout_hash());
  artifact.signature = HexOf(message.signature());
  artifact.origin = Known(message.origin(), Origin::kShared);
  artifact.stored = message.stored();
  artifact.cpu_us = message.cpu_us();
  return artifact;
}

// Files go by the digest of their list, which was uploaded before (spec/daemon 3.3).
void ToProto(const HlslInputs& inputs, v1::Hlsl* out) {
  for (const auto& [name, value] : inputs.settings) {
    (*out->mutable_settings())[name] = value;
  }
  for (const auto& [name, value] : inputs.defines) {
    v1::Hlsl::Define* define = out->add_defines();
    define->set_name(name);
    define->set_value(value);
  }
  for (const std::string& root : inputs.include_roots) {
    out->add_include_roots(root);
  }
  for (const Macro& macro : inputs.macros) {
    v1::Hlsl::Macro& row = *out->add_macros();
    row.set_name(macro.name);
    for (const Option& value : macro.values) {
      client::ToProto(value, row.add_values());
    }
  }
  if (inputs.files != nullptr) {
    client::ToProto(inputs.files->list.digest, out->mutable_file_list());
  }
}

// Enums of this library have the numbers of the protocol, so they are cast.
void ToProto(const Target& target, v1::Target* out) {
  out->set_name(target.name);
  out->set_form(static_cast<v1::Target::Form>(target.form));
  out->set_env(target.env);
  out->set_version(target.version);
  out->set_debug(static_cast<v1::Target::Debug>(target.debug));
  for (const std::string& recipe : target.recipes) {
    out->add_recipes(recipe);
  }
  if (target.combined) {
    (*out->mutable_settings())["modules"] = "combined";
  }
}

}  // namespace

// Ids travel as bytes and are shown as hex. Any length is taken: an id of a newer kind is shown as
// it is.
std::string HexOf(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return hex;
}

// The counterpart of FromProto, for the same sixteen bytes.
void ToProto(const Digest& digest, v1::Digest* out) {
  out->set_id(digest.id.bytes.data(), digest.id.bytes.size());
  out->set_size(digest.size);
}

// The type of the value decides the field; the daemon checks it against the declaration.
void ToProto(const Option& option, v1::OptionValue* out) {
  out->set_name(option.name);
  out->set_scope(static_cast<v1::OptionValue::Scope>(option.scope));
  if (const bool* flag = std::get_if<bool>(&option.value)) {
    out->set_flag(*flag);
  } else if (const uint32_t* number = std::get_if<uint32_t>(&option.value)) {
    out->set_uint(*number);
  } else if (const int32_t* integer = std::get_if<int32_t>(&option.value)) {
    out->set_sint(*integer);
  } else if (const float* real = std::get_if<float>(&option.value)) {
    out->set_float_(*real);
  } else {
    out->set_enum_(std::get<std::string>(option.value));
  }
}

// Sources go by digest and not by text: the daemon has most of them, and PutSources brings the
// others before.
void ToProto(const Program& program, v1::Program* out) {
  out->set_name(program.name);
  for (const Source& source : program.sources) {
    v1::SourceRef* ref = out->add_sources();
    ref->set_path(source.path);
    ToProto(source.digest, ref->mutable_digest());
  }
  out->set_pipeline(program.pipeline);
  for (const EntryPoint& entry : program.entries) {
    v1::EntryPoint* point = out->add_entry_points();
    point->set_stage(static_cast<v1::EntryPoint::Stage>(entry.stage));
    point->set_function(entry.function);
  }
  for (const Option& option : program.options) {
    ToProto(option, out->add_options());
  }
  for (const Target& target : program.targets) {
    ToProto(target, out->add_targets());
  }
  if (program.hlsl.has_value()) {
    ToProto(*program.hlsl, out->mutable_hlsl());
  }
}

namespace {

// The place goes along, so that a mistake in an expression is told at its place in the manifest.
void ToProto(const Expression& expression, v1::Expression* out) {
  out->set_text(expression.text);
  out->set_path(expression.path);
  out->set_line(expression.line);
  out->set_column(expression.column);
}

}  // namespace

// Zero means "not said" on both sides.
void ToProto(const Budget& budget, v1::Budget* out) {
  out->set_results(budget.results);
  out->set_variants(budget.variants);
  out->set_cpu_ms(budget.cpu_ms);
  out->set_output(budget.output);
}

// A filter of the command line is no file, but its mistakes need a place. The path is a name that
// SpaceMistakes knows again.
void ToFilter(const std::string& text, v1::Expression& out) {
  out.set_text(text);
  out.set_path(kFilterPath);
  out.set_line(1);
  out.set_column(1);
}

void ToProto(const ProgramSpace& space, v1::ProgramSpace* out) {
  ToProto(space.program, out->mutable_program());
  for (const Axis& axis : space.axes) {
    v1::Axis* row = out->add_axes();
    row->set_name(axis.name);
    row->set_all(axis.all);
    for (const Option& value : axis.values) {
      ToProto(value, row->add_values());
    }
  }
  for (const Expression& expression : space.exclude) {
    ToProto(expression, out->add_exclude());
  }
  for (const Expression& expression : space.require) {
    ToProto(expression, out->add_require());
  }
  for (size_t i = 0; i < space.variants.size(); ++i) {
    v1::Variant* row = out->add_explicit_();
    row->set_program_name(space.program.name);
    for (const Option& option : space.variants[i]) {
      ToProto(option, row->add_options());
    }
    // The lists beside the variants may be shorter, or empty where nobody said anything.
    row->set_warm(i < space.warm.size() && space.warm[i]);
    if (i < space.variant_targets.size()) {
      row->mutable_targets()->Add(space.variant_targets[i].begin(), space.variant_targets[i].end());
    }
  }
  out->set_only_explicit(space.only_explicit);
  for (const std::string& tag : space.tags) {
    out->add_tags(tag);
  }
  out->set_priority(space.priority);
  // A budget that says nothing is left out: one that is there replaces that of the batch.
  if (space.budget.results != 0 || space.budget.variants != 0 || space.budget.cpu_ms != 0 ||
      space.budget.output != 0) {
    ToProto(space.budget, out->mutable_budget());
  }
  out->set_family(space.family);
}

// The length is checked first, since a daemon chooses the bytes and what follows copies them.
Result<Digest> FromProto(const v1::Digest& message) {
  Digest digest;
  if (message.id().size() != digest.id.bytes.size()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the daemon sent a digest without an id",
                 .reason = {}};
  }
  std::transform(message.id().begin(), message.id().end(), digest.id.bytes.begin(),
                 [](char byte) { return static_cast<uint8_t>(byte); });
  digest.size = message.size();
  return digest;
}

// A value of an unknown type is shown as false, which is what an absent flag is.
Option FromProto(const v1::OptionValue& message) {
  Option option{.name = message.name(), .value = false, .scope = OptionScope::kAny};
  switch (message.value_case()) {
    case v1::OptionValue::kFlag:
      option.value = message.flag();
      break;
    case v1::OptionValue::kUint:
      option.value = message.uint();
      break;
    case v1::OptionValue::kSint:
      option.value = message.sint();
      break;
    case v1::OptionValue::kFloat:
      option.value = message.float_();
      break;
    case v1::OptionValue::kEnum:
      option.value = message.enum_();
      break;
    // A type that only newer daemons know.
    case v1::OptionValue::VALUE_NOT_SET:
      break;
  }
  return option;
}

// Counts are decimal texts, since spaces may have more variants than 64 bits count.
VariantCount FromProto(const v1::VariantCount& message) {
  VariantCount count{.variants = message.variants(),
                     .results_upper = message.results_upper(),
                     .cached = message.cached(),
                     .exact = message.exact(),
                     .axes = {},
                     .diagnostics = FromProto(message.diagnostics())};
  for (const v1::VariantCount::AxisCount& axis : message.per_axis()) {
    count.axes.push_back({.name = axis.name(), .values = axis.values(), .factor = axis.factor()});
  }
  return count;
}

VariantRow FromProto(const v1::VariantRow& message) {
  VariantRow row{.rank = message.rank(),
                 .options = {},
                 .signature = HexOf(message.signature()),
                 .state = message.state() == v1::VariantRow::CACHED   ? VariantState::kCached
                          : message.state() == v1::VariantRow::FAILED ? VariantState::kFailed
                                                                      : VariantState::kUnknown};
  for (const v1::OptionValue& option : message.options()) {
    row.options.push_back(FromProto(option));
  }
  return row;
}

// Places come as the daemon found them, in lines and columns; this side needs no source to show
// them.
std::vector<PlacedDiagnostic> FromProto(
    const google::protobuf::RepeatedPtrField<v1::Diagnostic>& diagnostics) {
  std::vector<PlacedDiagnostic> result;
  for (const v1::Diagnostic& message : diagnostics) {
    PlacedDiagnostic diagnostic;
    diagnostic.code = message.code();
    diagnostic.severity = SeverityOf(message.severity());
    diagnostic.message = message.message();
    diagnostic.primary = SpanOf(message.primary());
    for (const v1::Diagnostic::Label& label : message.labels()) {
      diagnostic.labels.push_back({.where = SpanOf(label), .text = label.text()});
    }
    diagnostic.notes.assign(message.notes().begin(), message.notes().end());
    if (message.has_fix()) {
      diagnostic.fix =
          PlacedFix{.where = SpanOf(message.fix().span()),
                    .replacement = message.fix().replacement(),
                    .confidence = message.fix().guess() ? Confidence::kGuess : Confidence::kSure};
    }
    if (message.has_variants()) {
      const v1::Diagnostic::VariantSummary& variants = message.variants();
      diagnostic.variants = PlacedVariants{.failing = variants.failing(),
                                           .total = variants.total(),
                                           .condition = variants.condition(),
                                           .example = {}};
      std::vector<Option> example;
      for (const v1::OptionValue& option : variants.example()) {
        example.push_back(FromProto(option));
      }
      diagnostic.variants->example = OptionsText(example);
    }
    result.push_back(std::move(diagnostic));
  }
  return result;
}

Outcome FromProto(const v1::Outcome& message) {
  Outcome outcome;
  outcome.kind = Known(message.kind(), OutcomeKind::kPoison);
  for (const v1::Artifact& artifact : message.artifacts()) {
    outcome.artifacts.push_back(ArtifactOf(artifact));
  }
  outcome.diagnostics = FromProto(message.diagnostics());
  outcome.index = message.index();
  outcome.explain_seq = message.explain_seq();
  for (const v1::IncludedFile& file : message.included()) {
    outcome.included.push_back({.path = file.path(), .present = file.has_digest()});
  }
  return outcome;
}

// Counts are passed through; nothing is computed here, so a client shows what the daemon says.
BatchProgress FromProto(const v1::BatchProgress& m) {
  BatchProgress p;
  p.variants_total = m.variants_total();
  p.variants_served = m.variants_served();
  p.results_upper = m.results_upper();
  p.stage = m.stage();
  p.slowed_by = m.slowed_by();
  p.results_done = m.results_done();
  p.hit_memory = m.hit_memory();
  p.hit_local = m.hit_local();
  p.hit_upstream = m.hit_upstream();
  p.shared = m.shared();
  p.compiled = m.compiled();
  p.failed = m.failed();
  p.limited = m.limited();
  p.poisoned = m.poisoned();
  p.retried = m.retried();
  p.code_distinct = m.code_distinct();
  p.validated = m.validated();
  p.optimised = m.optimised();
  p.cpu_ms = m.cpu_ms();
  p.cpu_saved_ms = m.cpu_saved_ms();
  p.bytes_out = m.bytes_out();
  p.eta_ms = m.eta_ms();
  p.queue = m.queue();
  p.running = m.running();
  p.rate_results = m.rate_results();
  p.rate_variants = m.rate_variants();
  p.dedup_ratio = m.dedup_ratio();
  p.cache_hit_ratio = m.cache_hit_ratio();
  for (const v1::BatchProgress::Slow& slow : m.slowest()) {
    BatchProgress::Slow row{.program = slow.program(), .options = {}, .ms = slow.ms()};
    for (const v1::OptionValue& option : slow.options()) {
      row.options.push_back(FromProto(option));
    }
    p.slowest.push_back(std::move(row));
  }
  return p;
}

BatchItem FromProto(const v1::BatchItem& message) {
  BatchItem item{.program = message.program(),
                 .options = {},
                 .outcome = FromProto(message.outcome()),
                 .served = message.served(),
                 .cpu_us = message.cpu_us()};
  for (const v1::OptionValue& option : message.options()) {
    item.options.push_back(FromProto(option));
  }
  return item;
}

// The state is passed on by its name, so a state that only a newer daemon knows is empty and not a
// wrong one.
BatchInfo FromProto(const v1::Batch& message) {
  const v1::BatchCounts& counts = message.counts();
  return {.id = HexOf(message.id()),
          .project = message.project(),
          .owner = message.owner(),
          .paused_by = message.paused_by(),
          .state = v1::Batch::State_Name(message.state()),
          .variants_total = counts.variants_total(),
          .variants_served = counts.variants_served(),
          .results_upper = counts.results_upper(),
          .results_done = counts.results_done(),
          .ok = counts.ok(),
          .failed = counts.failed(),
          .limited = counts.limited(),
          .poisoned = counts.poisoned(),
          .compiled = counts.compiled(),
          .hits = counts.hits(),
          .shared = counts.shared(),
          .code_distinct = counts.code_distinct(),
          .programs_total = counts.programs_total(),
          .programs_done = counts.programs_done(),
          .started_ms = message.started(),
          .updated_ms = message.updated()};
}

// A daemon's text reaches terminals, logs and JSON lines. A hostile one may send megabytes of it,
// so the text is bounded once, before anyone stores or prints it.
std::string CutText(const std::string& text) {
  constexpr size_t kMostText = 4096;
  if (text.size() <= kMostText) {
    return text;
  }
  size_t end = kMostText;  // before a character, not in it
  while (end > kMostText - 4 && (static_cast<uint8_t>(text[end]) & 0xc0u) == 0x80u) {
    --end;
  }
  return text.substr(0, end) + " [cut: " + std::to_string(text.size()) + " bytes]";
}

// ErrorCode has the numbers of gRPC's codes, so the code is taken over as it is. The reason, by
// which callers tell refusals apart, is in the details; it stays empty where a proxy or gRPC itself
// answered.
Error FromStatus(const grpc::Status& status) {
  Error error{.code = static_cast<ErrorCode>(status.error_code()),
              .context = CutText(status.error_message()),
              .reason = {}};
  v1::ErrorDetail detail;
  // The reason, the limit and what to do travel beside the text (spec/daemon 2.4). A status of a
  // proxy in between has none.
  if (!status.error_details().empty() && detail.ParseFromString(status.error_details())) {
    error.reason = detail.reason();
    if (!detail.help().empty()) {
      // Every error of a daemon tells people what to do, without each verb having to add it. Texts
      // are cut, because a hostile daemon chooses their length.
      error.context += "; " + CutText(detail.help());
    }
    RememberDetail(error, {.field = detail.field(),
                           .limit = detail.limit(),
                           .max = detail.max(),
                           .actual = detail.actual(),
                           .retry_after_ms = detail.retry_after_ms(),
                           .trace_id = detail.trace_id(),
                           .help = CutText(detail.help())});
  }
  return error;
}

}  // namespace kiln::client
