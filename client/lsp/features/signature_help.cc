// SPDX-License-Identifier: MIT
// textDocument/signatureHelp: the parameters of the call that is being written, of each function of
// that name, and the rules of a constructor.
#include "client/lsp/features/signature_help.h"

#include <algorithm>

#include "client/lsp/analysis/cursor.h"
#include "client/lsp/analysis/outline.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/features/builtin_text.h"
#include "client/lsp/modules/module_completion.h"

namespace kiln::lsp {
namespace {

struct Signature {
  std::string label;
  std::vector<std::string> parameters;
  std::string documentation;
};

// Taken from the text and not from the IR, so it shows the parameters as their author wrote them.
Signature SignatureOf(const Source& source, const rpl::Decl& decl) {
  Signature signature{.label = HeadText(source, decl),
                      .parameters = {},
                      .documentation = CommentAbove(source, decl.span.begin)};
  for (uint32_t i = 0; i < decl.field_count; ++i) {
    signature.parameters.push_back(OneLine(source, source.ast().fields[decl.first_field + i].span));
  }
  return signature;
}

// Empty for a name that nothing declares.
std::vector<Signature> SignaturesOf(const FileView& file, const OpenCall& call) {
  std::vector<Signature> signatures;
  // A call looks for an inbuilt function first, so nothing else can be meant.
  if (const std::optional<BuiltinText> builtin = DescribeBuiltin(call.name)) {
    signatures.push_back({.label = builtin->signature,
                          .parameters = builtin->parameters,
                          .documentation = builtin->example});
    return signatures;
  }
  const resolve::Program& program = file.program->program();
  const resolve::NameId name = program.FindName(call.name);
  if (!name.valid()) {
    return signatures;
  }
  // Each declaration of the name, whatever its condition; the client shows one at a time.
  const auto add = [&](std::span<const ir::DeclId> decls) {
    for (const ir::DeclId id : decls) {
      const Location at = program.NameLocation(id);
      const Source& source = file.program->source(at.module);
      if (const rpl::Decl* decl = DeclNamedAt(source, at.bytes.begin)) {
        signatures.push_back(SignatureOf(source, *decl));
      }
    }
  };
  // Braces behind a name construct a struct, parentheses call a function; the two may share a name.
  if (call.constructor) {
    add(program.Structs(name));
  } else {
    add(program.Functions(name));
  }
  return signatures;
}

}  // namespace

// Null closes the help in the client, which is right wherever no call is open.
Outcome SignatureHelp(Session& session, const Json& params) {
  std::variant<Spot, RpcError> read = SpotOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const Spot& spot = std::get<Spot>(read);
  if (IsTyped(spot.file.path)) {
    return SignaturesInModule(session, spot);
  }
  const std::optional<FileView> file = session.analysis.ViewOf(spot.file.path);
  if (!file.has_value()) {
    return Json(nullptr);
  }
  // A call that is being typed rarely parses, so it is found in the tokens and not in the tree. All
  // functions of that name are offered, because overloads and alternatives under conditions share
  // one.
  const std::optional<OpenCall> call = OpenCallAt(file->source(), spot.offset);
  if (!call.has_value()) {
    return Json(nullptr);
  }
  Json signatures = Json::array();
  for (const Signature& signature : SignaturesOf(*file, *call)) {
    Json parameters = Json::array();
    for (const std::string& parameter : signature.parameters) {
      parameters.push_back({{"label", parameter}});
    }
    signatures.push_back({{"label", signature.label}, {"parameters", std::move(parameters)}});
    if (!signature.documentation.empty()) {
      signatures.back()["documentation"] = signature.documentation;
    }
  }
  if (signatures.empty()) {
    return Json(nullptr);
  }
  return Json{{"signatures", std::move(signatures)},
              {"activeSignature", 0},
              {"activeParameter", call->argument}};
}

}  // namespace kiln::lsp
