// SPDX-License-Identifier: MIT
// Sizes are counted over all programs of a reply, since the reply is one message: names and labels
// are as long as their sender likes.
#include "server/rpc/calls/option_list.h"

#include <algorithm>
#include <memory>

#include "compiler/base/threads/stop.h"
#include "compiler/driver/option_text.h"
#include "server/compile/programs/program_texts.h"
#include "server/project/liveness.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

// A module with several places to resolve: the beginnings of the lines of a file are found once.
class PlacesIn {
 public:
  // The text must outlive the object.
  explicit PlacesIn(const ModuleText& text) : text_(text), ends_(text.files().size()) {}

  // Path, bytes, line and column of a name. Spans of rows come from an image that was checked, but
  // texts are those of the store now, so a place behind the end becomes the end.
  void PlaceTo(Span bytes, v1::Diagnostic::Label& out) {
    const size_t row = text_.FileAt(bytes.begin);
    const ModuleText::File& file = text_.files()[row];
    const std::vector<size_t>& ends = EndsOf(row);
    const size_t at = std::min<size_t>(bytes.begin - file.first, file.source->text.size());
    const auto line = std::ranges::lower_bound(ends, at) - ends.begin();
    const size_t line_start = line == 0 ? 0 : ends[static_cast<size_t>(line) - 1] + 1;
    out.set_path(file.source->path);
    out.set_begin(bytes.begin - file.first);
    out.set_end(bytes.end - file.first);
    out.set_line(1 + static_cast<uint32_t>(line));
    out.set_column(1 + static_cast<uint32_t>(at - line_start));
  }

 private:
  // Of lines of a file.
  const std::vector<size_t>& EndsOf(size_t row) {
    if (!ends_[row].has_value()) {
      ends_[row].emplace();
      const std::string& text = text_.files()[row].source->text;
      for (size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
        ends_[row]->push_back(i);
      }
    }
    return *ends_[row];
  }

  const ModuleText& text_;
  std::vector<std::optional<std::vector<size_t>>> ends_;  // by file
};

resolve::OptionSetting DefaultOf(const ir::ModuleView& view, const ir::Option& option) {
  resolve::OptionSetting setting{.name = std::string(view.Text(option.name)),
                                 .scope = option.scope,
                                 .kind = option.kind,
                                 .bits = option.default_value};
  if (option.kind == ir::OptionKind::kEnum) {
    setting.text = view.Text(ir::StringId{view.List(option.values)[option.default_value]});
  }
  return setting;
}

void OptionTo(const resolve::Program& program, uint32_t module, const ir::Option& option,
              v1::OptionInfo& out) {
  const ir::ModuleView& view = program.module(module);
  out.set_name(std::string(view.Text(option.name)));
  out.set_scope(option.scope == ir::OptionScope::kGlobal ? v1::OptionValue::GLOBAL
                                                         : v1::OptionValue::INSTANCE);
  out.set_type(std::string(driver::OptionKindText(option.kind)));
  if (option.kind == ir::OptionKind::kEnum) {
    for (const uint32_t value : view.List(option.values)) {
      out.add_values(std::string(view.Text(ir::StringId{value})));
    }
  }
  ToProto(DefaultOf(view, option), *out.mutable_default_());
}

void LivenessTo(const project::Liveness& liveness, const std::vector<compile::NamedTarget>& targets,
                v1::OptionInfo& info) {
  info.set_dependents(liveness.dependents);
  for (const auto& [affected, name] :
       {std::pair(liveness.code, "code"), std::pair(liveness.settings, "settings"),
        std::pair(liveness.layout, "layout")}) {
    if (affected) {
      info.add_affects(name);
    }
  }
  // Every target has metadata, which tells the value of every option that was read.
  for (const compile::NamedTarget& target : targets) {
    if (liveness.dependents != 0) {
      info.add_live_in(target.name);
    }
  }
}

// What only macros have: a list of values whatever their kind. Any list of defines may ask for any
// of them and decide everything by it; which of them do, results tell.
void MacroTo(const compile::PreparedProgram& prepared,
             const std::vector<compile::NamedTarget>& targets, std::string_view name,
             v1::OptionInfo& info) {
  const std::vector<hlsl::MacroAxis>& macros = prepared.request.hlsl.macros;
  const auto macro = std::ranges::lower_bound(macros, name, {}, &hlsl::MacroAxis::name);
  info.clear_values();
  for (const std::string& value : macro->values) {
    info.add_values(value);
  }
  info.set_macro(true);
  project::Liveness anything;
  anything.code = anything.settings = anything.layout = true;
  anything.dependents = prepared.request.sources.size();
  LivenessTo(anything, targets, info);
}

// What a whole reply holds so far.
struct ListedBytes {
  uint64_t all = 0;
  uint64_t readers = 0;  // their labels
};

// The options of a program into a message that has `options` and `diagnostics`.
template <class Reply>
class OptionLister {
 public:
  // All must outlive the object.
  OptionLister(const ProgramAndTargets& program, const resolve::Program& linked,
               std::span<const ModuleText> texts, Reply& reply, ListedBytes& bytes)
      : targets_(program.targets), linked_(linked), reply_(reply), bytes_(bytes) {
    for (const ModuleText& text : texts) {
      places_.emplace_back(text);
    }
  }

  Result<void> Add(uint32_t module, const ir::Option& option, const project::Liveness& liveness) {
    v1::OptionInfo& info = *reply_.add_options();
    OptionTo(linked_, module, option, info);
    if (module < places_.size()) {  // macros are declared by the request
      places_[module].PlaceTo(linked_.module(module).SpanOf(option.span),
                              *info.mutable_declared_at());
    }
    AddReaders(liveness, info);
    LivenessTo(liveness, targets_, info);
    // The size depends on the source: names are arbitrarily long.
    bytes_.all += info.ByteSizeLong();
    return bytes_.all > kMaxReply ? Result<void>(AboveLimit("reply", kMaxReply, bytes_.all))
                                  : Result<void>();
  }

 private:
  void AddReaders(const project::Liveness& liveness, v1::OptionInfo& info) {
    for (const project::Liveness::Reader& reader : liveness.readers) {
      CheckStop();
      v1::Diagnostic::Label label;
      label.set_text(reader.name);
      places_[reader.module].PlaceTo(reader.where, label);
      const uint64_t size = label.ByteSizeLong();
      if (size > kMaxReaderLabels - bytes_.readers) {
        break;
      }
      bytes_.readers += size;
      *info.add_readers() = std::move(label);
    }
  }

  const std::vector<compile::NamedTarget>& targets_;
  const resolve::Program& linked_;
  Reply& reply_;
  ListedBytes& bytes_;
  std::vector<PlacesIn> places_;  // by module
};

// Liveness of one program with any target: what depends on an option is the same for all.
template <class Reply>
Result<void> ListOptionsOf(Engine& engine, const ProgramAndTargets& program, bool with_liveness,
                           const cache::Call& call, Reply& reply, ListedBytes& bytes,
                           v1::ErrorDetail& detail) {
  const compile::NamedTarget any{.name = "spirv", .target = {}};
  KILN_TRY(const auto prepared, PrepareOrListMissing(engine, program.program, any, call, detail));
  if (!prepared->ok()) {
    v1::Outcome outcome;
    ToProto(prepared->diagnostics, outcome);
    *reply.mutable_diagnostics() = std::move(*outcome.mutable_diagnostics());
    bytes.all += reply.ByteSizeLong();
    return bytes.all > kMaxReply ? Result<void>(AboveLimit("reply", kMaxReply, bytes.all))
                                 : Result<void>();
  }
  const resolve::Program& linked = prepared->program();
  const std::vector<project::Liveness> liveness =
      with_liveness ? project::LivenessOf(linked, program.program.entries)
                    : std::vector<project::Liveness>(linked.option_count());
  if (linked.option_count() == 0) {
    return {};
  }
  KILN_TRY(const compile::ProgramTexts texts,
           compile::ProgramTexts::Load(engine.pool, *prepared, call));
  OptionLister<Reply> lister(program, linked, texts.modules(), reply, bytes);
  size_t number = 0;  // options are numbered as they are listed
  const size_t sources = program.program.sources.size();
  for (uint32_t module = 0; module < linked.modules().size(); ++module) {
    for (const ir::Option& option : linked.module(module).options) {
      CheckStop();
      KILN_TRY_VOID(lister.Add(module, option, liveness[number++]));
      if (module >= sources) {
        v1::OptionInfo& info = *reply.mutable_options(reply.options_size() - 1);
        MacroTo(*prepared, program.targets, linked.module(module).Text(option.name), info);
        bytes.all += info.ByteSizeLong();
      }
    }
  }
  return {};
}

// The missing sources of all programs are told at once: their client uploads them once.
Result<void> ListOptionsOfAll(Engine& engine, const v1::ListOptionsRequest& request,
                              const cache::Call& call, v1::ListOptionsReply& reply,
                              v1::ErrorDetail& detail) {
  if (request.has_program()) {
    return Malformed("programs", "either program or programs");
  }
  if (static_cast<uint64_t>(request.programs_size()) > kMaxListedPrograms) {
    return AboveLimit("programs of a list", kMaxListedPrograms,
                      static_cast<uint64_t>(request.programs_size()));
  }
  std::vector<ProgramAndTargets> programs;
  std::vector<compile::Source> sources;
  for (const v1::Program& asked : request.programs()) {
    KILN_TRY(ProgramAndTargets program, FromProto(asked));
    sources.insert(sources.end(), program.program.sources.begin(), program.program.sources.end());
    programs.push_back(std::move(program));
  }
  KILN_TRY_VOID(CheckThere(engine, sources, call, detail));
  ListedBytes bytes;
  for (const ProgramAndTargets& program : programs) {
    CheckStop();
    KILN_TRY_VOID(ListOptionsOf(engine, program, request.with_liveness(), call,
                                *reply.add_programs(), bytes, detail));
  }
  return {};
}

}  // namespace

std::optional<resolve::OptionSetting> DefaultOf(const resolve::Program& program,
                                                std::string_view name) {
  for (uint32_t module = 0; module < program.modules().size(); ++module) {
    for (const ir::Option& option : program.module(module).options) {
      if (program.module(module).Text(option.name) == name) {
        return DefaultOf(program.module(module), option);
      }
    }
  }
  return std::nullopt;
}

Result<void> ListOptions(Engine& engine, const v1::ListOptionsRequest& request,
                         const cache::Call& call, v1::ListOptionsReply& reply,
                         v1::ErrorDetail& detail) {
  if (request.programs_size() != 0) {
    return ListOptionsOfAll(engine, request, call, reply, detail);
  }
  KILN_TRY(const ProgramAndTargets program, FromProto(request.program()));
  ListedBytes bytes;
  return ListOptionsOf(engine, program, request.with_liveness(), call, reply, bytes, detail);
}

}  // namespace kiln::rpc
