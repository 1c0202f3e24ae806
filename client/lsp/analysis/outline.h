// SPDX-License-Identifier: MIT
// The tree of a source by places: which declaration, field or statement is where. Look-ups in rows
// of the front end's tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/lsp/analysis/source.h"

namespace kiln::lsp {

// The declaration that covers the byte; null if none does.
const rpl::Decl* DeclAt(const Source& source, uint32_t offset);
// The declaration or field whose name begins there; null if none does.
const rpl::Decl* DeclNamedAt(const Source& source, uint32_t offset);
const rpl::Field* FieldNamedAt(const Source& source, uint32_t offset);

// Bytes of the name of a declaration; dotted ones whole.
Span NameSpan(const Source& source, const rpl::Decl& decl);
std::string_view NameText(const Source& source, const rpl::Decl& decl);
Span SpanOfToken(const Source& source, uint32_t token);

// What stands before the body or the fields: "f4 clip_position (in f3 world)", "set_pass
// uniform_buffer view"; of others the whole declaration. White space is one space.
std::string HeadText(const Source& source, const rpl::Decl& decl);
// Any piece of the text with one space for white space, without comments.
std::string OneLine(const Source& source, Span bytes);

// The comment lines directly above a byte's line, without their slashes.
std::string CommentAbove(const Source& source, uint32_t offset);

// Something that is there only if a condition holds.
struct ConditionalPart {
  Span whole;      // what is not there otherwise
  Span condition;  // its expression
};
// Declarations, fields, arguments, scopes and aliases with a condition, in order of `whole`.
std::vector<ConditionalPart> ConditionalParts(const Source& source);

}  // namespace kiln::lsp
