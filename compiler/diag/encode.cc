// SPDX-License-Identifier: MIT
// Both directions of the stored form.
#include "compiler/diag/encode.h"

#include <string>

#include "compiler/base/hash/canonical.h"
#include "compiler/base/text/utf8.h"

namespace kiln {
namespace {

// The version changes with the form. What was stored in another one is then corrupt, and whoever
// reads it makes it anew.
constexpr std::string_view kDomain = "kiln.diagnostics.2";

// Whoever reads what is corrupt makes it anew, so the message is for people that look for the
// cause.
Error Corrupt(std::string_view what) {
  return {.code = ErrorCode::kCorrupt, .context = "stored diagnostics: " + std::string(what)};
}

// Values come from sources, which were checked; a stored form may be damaged.
bool IsUtf8(ByteView bytes) { return FindInvalidUtf8(AsText(bytes)) == bytes.size(); }

// A numbered span has no bytes in the stored form: a module that only moved in its file gives the
// same diagnostics, and FillPositions brings the bytes back.
Bytes EncodeLocation(const Location& where) {
  const bool numbered = where.span_number != Location::kNone;
  Bytes bytes;
  AppendLittle(bytes, where.module);
  AppendLittle(bytes, where.span_number);
  AppendLittle(bytes, numbered ? 0 : where.bytes.begin);
  AppendLittle(bytes, numbered ? 0 : where.bytes.end);
  return bytes;
}

Result<Location> DecodeLocation(ByteView bytes) {
  // Four numbers of four bytes.
  if (bytes.size() != 16) {
    return Corrupt("location of another size");
  }
  const Location where{
      .module = ReadLittle<uint32_t>(bytes, 0),
      .span_number = ReadLittle<uint32_t>(bytes, 4),
      .bytes = {.begin = ReadLittle<uint32_t>(bytes, 8), .end = ReadLittle<uint32_t>(bytes, 12)}};
  const bool numbered = where.span_number != Location::kNone;
  // Each location has one form only, so equal diagnostics are equal bytes.
  if (where.bytes.begin > where.bytes.end || (numbered && where.bytes != Span{})) {
    return Corrupt("malformed location");
  }
  return where;
}

// A list of pairs, in the order in which they were given.
CanonicalList EncodeArguments(std::span<const Argument> arguments) {
  CanonicalList list;
  for (const Argument& argument : arguments) {
    // values quote sources and may hold NUL, which is no text of the canonical form
    list.List(CanonicalList().Text(argument.name).Raw(AsBytes(argument.value)));
  }
  return list;
}

// Names need not be known here: whether a template has what it needs is asked afterwards.
Result<std::vector<Argument>> DecodeArguments(ByteView bytes) {
  KILN_TRY(const std::vector<ByteView> items, DecodeList(bytes));
  std::vector<Argument> arguments;
  for (const ByteView item : items) {
    KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
    KILN_TRY(const std::string_view name, DecodeText(parts[0]));
    // The bounds of what is made hold for what is read as well, since caches may be damaged or
    // written by others.
    if (parts[1].size() > kMaxArgument) {
      return Corrupt("an argument that is too long");
    }
    if (!IsUtf8(parts[1])) {
      return Corrupt("an argument that is no UTF-8");
    }
    arguments.emplace_back(name, AsText(parts[1]));
  }
  return arguments;
}

// Whether every placeholder of the template has an argument. Templates belong to this build and
// what is stored may be of another one; substitution takes for granted that arguments are there.
bool IsComplete(std::string_view text, std::span<const Argument> arguments) {
  // Substitution walks in the same way, so what passes here has all that it needs.
  for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open)) {
    const size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    bool found = false;
    for (const Argument& argument : arguments) {
      found = found || argument.name == name;
    }
    if (!found) {
      return false;
    }
    open = close;
  }
  return true;
}

// A label is three fields: its kind, its place, its arguments.
CanonicalList EncodeLabels(std::span<const Label> labels) {
  CanonicalList list;
  for (const Label& label : labels) {
    list.List(CanonicalList()
                  .U32(static_cast<uint32_t>(label.kind))
                  .Raw(EncodeLocation(label.where))
                  .List(EncodeArguments(label.arguments)));
  }
  return list;
}

// Kinds are numbers of this build, and one that it does not have is refused before it is used.
Result<std::vector<Label>> DecodeLabels(ByteView bytes) {
  KILN_TRY(const std::vector<ByteView> items, DecodeList(bytes));
  std::vector<Label> labels;
  for (const ByteView item : items) {
    KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 3));
    KILN_TRY(const uint32_t kind, DecodeU32(parts[0]));
    if (kind >= kLabelKindCount) {
      return Corrupt("unknown label");
    }
    Label label{.kind = static_cast<LabelKind>(kind)};
    KILN_TRY(label.where, DecodeLocation(parts[1]));
    KILN_TRY(label.arguments, DecodeArguments(parts[2]));
    if (!IsComplete(LabelTemplate(label.kind), label.arguments)) {
      return Corrupt("label without its arguments");
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

// A note is two fields: its kind and its arguments. It has no place.
CanonicalList EncodeNotes(std::span<const Note> notes) {
  CanonicalList list;
  for (const Note& note : notes) {
    list.List(CanonicalList()
                  .U32(static_cast<uint32_t>(note.kind))
                  .List(EncodeArguments(note.arguments)));
  }
  return list;
}

Result<std::vector<Note>> DecodeNotes(ByteView bytes) {
  KILN_TRY(const std::vector<ByteView> items, DecodeList(bytes));
  std::vector<Note> notes;
  for (const ByteView item : items) {
    KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
    KILN_TRY(const uint32_t kind, DecodeU32(parts[0]));
    if (kind >= kNoteKindCount) {
      return Corrupt("unknown note");
    }
    Note note{.kind = static_cast<NoteKind>(kind)};
    KILN_TRY(note.arguments, DecodeArguments(parts[1]));
    if (!IsComplete(NoteTemplate(note.kind), note.arguments)) {
      return Corrupt("note without its arguments");
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

// A list of one, or an empty one.
CanonicalList EncodeFix(const std::optional<Fix>& fix) {
  CanonicalList list;
  if (fix.has_value()) {
    list.List(CanonicalList()
                  .U32(static_cast<uint32_t>(fix->form))
                  .U32(static_cast<uint32_t>(fix->confidence))
                  .Raw(EncodeLocation(fix->where))
                  .Raw(AsBytes(fix->text)));
  }
  return list;
}

// An edit that cannot be read makes the whole corrupt: a wrong edit would change a source.
Result<std::optional<Fix>> DecodeFix(ByteView bytes) {
  KILN_TRY(const std::vector<ByteView> items, DecodeList(bytes));
  if (items.empty()) {
    return std::optional<Fix>();
  }
  // More than one would be an error, and is found below together with the others.
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(items[0], 4));
  KILN_TRY(const uint32_t form, DecodeU32(parts[0]));
  KILN_TRY(const uint32_t confidence, DecodeU32(parts[1]));
  if (items.size() > 1 || form > static_cast<uint32_t>(Fix::Form::kBraces) ||
      confidence > static_cast<uint32_t>(Confidence::kGuess)) {
    return Corrupt("malformed fix");
  }
  Fix fix{.form = static_cast<Fix::Form>(form), .confidence = static_cast<Confidence>(confidence)};
  KILN_TRY(fix.where, DecodeLocation(parts[2]));
  if (!IsUtf8(parts[3])) {
    return Corrupt("a fix that is no UTF-8");
  }
  fix.text = AsText(parts[3]);
  return std::optional(std::move(fix));
}

// Codes are stored by their text and not by their number, because numbers are rows of a table that
// grows.
Result<Diagnostic> DecodeDiagnostic(ByteView bytes) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(bytes, 6));
  KILN_TRY(const std::string_view code_text, DecodeText(parts[0]));
  const std::optional<Code> code = FindCode(code_text);
  if (!code) {
    return Corrupt("unknown code");
  }
  KILN_TRY(const Location where, DecodeLocation(parts[1]));
  // The severity is that of this build: it belongs to the code and is not stored.
  Diagnostic diagnostic = Make(*code, where);
  KILN_TRY(diagnostic.arguments, DecodeArguments(parts[2]));
  KILN_TRY(diagnostic.labels, DecodeLabels(parts[3]));
  KILN_TRY(diagnostic.notes, DecodeNotes(parts[4]));
  KILN_TRY(diagnostic.fix, DecodeFix(parts[5]));
  if (!IsComplete(CodeTemplate(*code), diagnostic.arguments)) {
    return Corrupt("message without its arguments");
  }
  return diagnostic;
}

}  // namespace

// The order is kept, and merging is the caller's affair. The result is one list in field 1.
// Deterministic: equal diagnostics are equal bytes, which keys and comparisons of stored results
// rely on.
Bytes EncodeDiagnostics(std::span<const Diagnostic> diagnostics) {
  CanonicalList list;
  for (const Diagnostic& diagnostic : diagnostics) {
    list.List(CanonicalList()
                  .Text(CodeText(diagnostic.code))
                  .Raw(EncodeLocation(diagnostic.primary))
                  .List(EncodeArguments(diagnostic.arguments))
                  .List(EncodeLabels(diagnostic.labels))
                  .List(EncodeNotes(diagnostic.notes))
                  .List(EncodeFix(diagnostic.fix)));
  }
  return CanonicalWriter(kDomain).List(1, list).bytes();
}

// Everything is checked here, so that nothing behind it has to expect a damaged record: kinds,
// codes, bounds, UTF-8 and the arguments of each template.
Result<std::vector<Diagnostic>> DecodeDiagnostics(ByteView bytes) {
  // The bound holds before anything is decoded, so a damaged file cannot take much memory.
  if (bytes.size() > kMaxDiagnosticsBytes) {
    return Corrupt("too long");
  }
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kDomain));
  KILN_TRY(const std::vector<ByteView> items, reader.List(1));
  KILN_TRY_VOID(reader.Finish());
  std::vector<Diagnostic> diagnostics;
  for (const ByteView item : items) {
    KILN_TRY(Diagnostic diagnostic, DecodeDiagnostic(item));
    diagnostics.push_back(std::move(diagnostic));
  }
  return diagnostics;
}

// A span that is no longer in the module becomes empty, and the message stays.
void FillPositions(std::vector<Diagnostic>& diagnostics, const SpanLookup& lookup) {
  const auto fill = [&](Location& where) {
    if (where.known() && where.span_number != Location::kNone) {
      // The place stays known by its number even if the module has no such span.
      where.bytes = lookup(where.module, where.span_number).value_or(Span{});
    }
  };
  for (Diagnostic& diagnostic : diagnostics) {
    fill(diagnostic.primary);
    for (Label& label : diagnostic.labels) {
      fill(label.where);
    }
    if (diagnostic.fix.has_value()) {
      fill(diagnostic.fix->where);
    }
  }
}

}  // namespace kiln
