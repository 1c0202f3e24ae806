// SPDX-License-Identifier: MIT
// Generic modules as images. One section per table, in the order of `Sections`; the span tables are
// sections of their own, so that an image without them is the same image otherwise.
#include "compiler/ir/module.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/base/files/section_file.h"
#include "compiler/ir/line_starts.h"
#include "compiler/ir/module_files.h"

namespace kiln::ir {
namespace {

// The numbers of sections are part of the format, and a change of them makes old images unreadable.
// The gaps leave room for tables that come later.
constexpr uint64_t kMagic = SectionMagic("kilnmod1");
constexpr uint32_t kHeaderSection = 1;
constexpr uint32_t kFirstTable = 2;
constexpr uint32_t kAttributeTable = 16;
constexpr uint32_t kFirstSpanTable = 32;

// Calls visit(section kind, table) for every table of a view.
// Writing and reading both go through this list, so the number of a table is written once.
template <class View, class Visit>
void ForEachTable(View& view, Visit visit) {
  uint32_t kind = kFirstTable;
  const auto semantic = [&](auto&... tables) { (visit(kind++, tables), ...); };
  semantic(view.types, view.consts, view.cexprs, view.options, view.decls, view.members,
           view.locals, view.regions, view.insts, view.blocks, view.block_insts, view.extra,
           view.string_ends, view.string_bytes, view.attributes);
  kind = kFirstSpanTable;
  // Spans are what an edit of a comment changes, so they are kept apart from everything that has a
  // meaning.
  semantic(view.spans, view.decl_spans, view.member_spans, view.local_spans, view.region_spans,
           view.inst_spans);
}

Bytes WriteImage(const ModuleView& view, const SourceSections& sources,
                 const Hash128& fingerprint) {
  SectionFileWriter writer(kMagic, fingerprint);
  writer.Add(kHeaderSection, std::span(&view.header, 1));
  ForEachTable(view, [&](uint32_t kind, const auto& table) {
    // An untyped module has no attributes, and its image has no such section.
    if (kind != kAttributeTable || !table.empty()) {
      writer.Add(kind, table);
    }
  });
  if (!sources.line_starts.empty()) {
    writer.Add(kLineStartsSection, sources.line_starts);
  }
  if (!sources.files.empty()) {
    writer.AddBytes(kFilesSection, static_cast<uint32_t>(sources.files.size()), sources.files);
  }
  return writer.Finish();
}

// Points `table` at the rows of its section. Attributes and span tables may be missing.
template <class Row>
bool ReadTable(const SectionFileView& file, uint32_t kind, std::span<const Row>& table) {
  if (kind >= kAttributeTable && !file.Has(kind)) {
    return true;
  }
  const Result<std::span<const Row>> rows = file.Rows<Row>(kind);
  if (rows.ok()) {
    table = rows.value();
  }
  return rows.ok();
}

}  // namespace

static_assert(sizeof(ModuleHeader) == 16 && std::is_trivially_copyable_v<ModuleHeader>);

// Texts lie in one block, each ending where the next begins.
std::string_view ModuleView::Text(StringId id) const {
  const uint32_t begin = id.value == 0 ? 0 : string_ends[id.value - 1];
  return {string_bytes.data() + begin, string_ends[id.value] - begin};
}

std::span<const uint32_t> ModuleView::List(ListId id) const {
  return id.valid() ? extra.subspan(id.value + 1, extra[id.value]) : std::span<const uint32_t>{};
}

std::span<const uint32_t> ModuleView::InstsOf(BlockId id) const {
  const Block& block = blocks[id.value];
  return block_insts.subspan(block.first, block.count);
}

std::span<const Member> ModuleView::MembersOf(const Decl& decl) const {
  return members.subspan(decl.first_member, decl.member_count);
}

namespace {

// Two searches by halves; attributes are sorted by what they belong to.
std::span<const Attribute> AttributesAt(std::span<const Attribute> rows, uint16_t of_member,
                                        uint32_t owner) {
  const auto before = [](const Attribute& a, const Attribute& b) {
    return std::tie(a.of_member, a.owner) < std::tie(b.of_member, b.owner);
  };
  const Attribute key{.of_member = of_member, .owner = owner};
  const auto [first, last] = std::equal_range(rows.begin(), rows.end(), key, before);
  return rows.subspan(static_cast<size_t>(first - rows.begin()), static_cast<size_t>(last - first));
}

}  // namespace

std::span<const Attribute> ModuleView::AttributesOf(DeclId id) const {
  return AttributesAt(attributes, 0, id.value);
}

std::span<const Attribute> ModuleView::AttributesOf(MemberId id) const {
  return AttributesAt(attributes, 1, id.value);
}

// A module without spans answers with an empty one, so nobody has to ask whether there are any.
Span ModuleView::SpanOf(SpanId id) const {
  return id.value < spans.size() ? spans[id.value] : Span{};
}

// Nothing is copied: the tables of the view are the sections of the image. So opening costs the
// same for every size, and the rows must be verified before they are used.
// The fingerprint is that of the program that wrote the image: tables are read as they lie, so only
// the same program may read them.
Result<ModuleView> ModuleView::Open(std::span<const std::byte> image, const Hash128& fingerprint) {
  KILN_TRY(const SectionFileView file, SectionFileView::Open(image, kMagic));
  if (file.fingerprint() != fingerprint) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "the module image was written by another version"};
  }
  ModuleView view;
  std::span<const ModuleHeader> header;
  bool whole = ReadTable(file, kHeaderSection, header) && header.size() == 1;
  if (whole) {
    view.header = header[0];
  }
  ForEachTable(view,
               [&](uint32_t kind, auto& table) { whole = ReadTable(file, kind, table) && whole; });
  if (!whole) {
    return Error{.code = ErrorCode::kCorrupt, .context = "a table of the module image is damaged"};
  }
  return view;
}

Module::Module(std::vector<std::byte> image, const ModuleView& view, const Hash128& fingerprint)
    : image_(std::move(image)), view_(view), fingerprint_(fingerprint) {}

Module WriteModule(const ModuleView& tables, const SourceSections& sources,
                   const Hash128& fingerprint) {
  std::vector<std::byte> image = WriteImage(tables, sources, fingerprint);
  // Opened like any image, so what is written and what is read never differ.
  const ModuleView view = ModuleView::Open(image, fingerprint).value();
  return {std::move(image), view, fingerprint};
}

Hash128 Module::semantic_id() const {
  // as if it had been written without span sections
  ModuleView without_spans = view_;
  without_spans.spans = {};
  without_spans.decl_spans = {};
  without_spans.member_spans = {};
  without_spans.local_spans = {};
  without_spans.region_spans = {};
  without_spans.inst_spans = {};
  return HashBytes(WriteImage(without_spans, {}, fingerprint_));
}

// Searched by halves by whoever uses them; unsorted rows are taken for absent rather than trusted.
std::span<const uint32_t> LineStartsOf(const Module& module) {
  const Result<SectionFileView> file = SectionFileView::Open(module.image(), kMagic);
  if (!file.ok() || !file->Has(kLineStartsSection)) {
    return {};
  }
  const Result<std::span<const uint32_t>> rows = file->Rows<uint32_t>(kLineStartsSection);
  return rows.ok() && std::ranges::is_sorted(*rows) ? *rows : std::span<const uint32_t>();
}

// Not in the view, because nothing of a compile needs it: only places in messages do.
Result<std::optional<ModuleFiles>> FilesOf(const Module& module) {
  KILN_TRY(const SectionFileView file, SectionFileView::Open(module.image(), kMagic));
  if (!file.Has(kFilesSection)) {
    return std::optional<ModuleFiles>();
  }
  KILN_TRY(const std::span<const std::byte> bytes, file.Rows<std::byte>(kFilesSection));
  KILN_TRY(ModuleFiles files, DecodeFiles(bytes));
  return std::optional(std::move(files));
}

}  // namespace kiln::ir
