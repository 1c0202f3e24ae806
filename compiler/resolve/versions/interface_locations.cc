// SPDX-License-Identifier: MIT
// Stages are located one after the other, because a fragment stage takes over what the vertex stage
// before it has. Rows are few (interface_leaves.cc), so every search is a plain loop over them.
#include "compiler/resolve/versions/interface_locations.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/interface/semantics.h"

namespace kiln::resolve {
namespace {

constexpr uint32_t kMostLocations = 128;  // more than any device has

std::string PlaceText(uint32_t location) { return "location " + std::to_string(location); }

class Locator {
 public:
  Locator(const ir::Pool& pool, std::vector<Diagnostic>& diagnostics)
      : pool_(pool), diagnostics_(diagnostics) {}

  // Drafts are sorted by stage, so the vertex stage has its locations when the fragment stage is
  // linked.
  bool Run(std::span<InterfaceDraft> drafts) {
    InterfaceDraft* vertex = nullptr;
    for (InterfaceDraft& draft : drafts) {
      // Linking comes before numbering: linked inputs have their places then, and the others are
      // put around them.
      if (draft.stage == ir::Stage::kFragment && vertex != nullptr) {
        Link(*vertex, draft);
      }
      for (const ir::Direction direction : {ir::Direction::kIn, ir::Direction::kOut}) {
        Number(draft, direction);
      }
      vertex = draft.stage == ir::Stage::kVertex ? &draft : vertex;
    }
    if (vertex != nullptr) {
      DeclareMissing(*vertex);
    }
    // Attributes are written last, since missing outputs were added only now.
    for (InterfaceDraft& draft : drafts) {
      Finish(draft);
    }
    return !failed_;
  }

 private:
  static bool Is(const DraftRow& row, ir::Direction direction) {
    return row.located && row.row.direction == direction;
  }

  // --- from stage to stage
  void Link(const InterfaceDraft& vertex, InterfaceDraft& fragment) {
    is_linked_ = true;
    for (DraftRow& input : fragment.rows) {
      // Without a semantic, inputs are matched by location alone, which needs nothing here.
      if (!Is(input, ir::Direction::kIn) || !input.semantic.has_value()) {
        continue;
      }
      if (const DraftRow* output = FindOutput(vertex, *input.semantic)) {
        Join(*output, input);
      } else {
        diagnostics_.push_back(Make(Code::kHlsl5010, input.where)
                                   .With("semantic", SemanticText(pool_, *input.semantic)));
        // The input is declared as an output of the vertex stage later, when its location is known.
        missing_.push_back(&input);
      }
    }
    // What the fragment stage finds for itself must not be where the vertex stage writes.
    for (const DraftRow& output : vertex.rows) {
      if (Is(output, ir::Direction::kOut) && output.location.has_value()) {
        taken_.push_back(&output);
      }
    }
  }

  // Semantics are compared without case, as in HLSL.
  const DraftRow* FindOutput(const InterfaceDraft& vertex, const SemanticName& semantic) const {
    const std::string key = ir::SemanticKey(pool_.Text(semantic.text));
    for (const DraftRow& row : vertex.rows) {
      if (Is(row, ir::Direction::kOut) && row.semantic.has_value() &&
          row.semantic->index == semantic.index &&
          ir::SemanticKey(pool_.Text(row.semantic->text)) == key) {
        return &row;
      }
    }
    return nullptr;
  }

  void Join(const DraftRow& output, DraftRow& input) {
    const ir::Type& from = pool_[output.row.type];
    const ir::Type& to = pool_[input.row.type];
    // The fragment stage may read fewer components than were written, and never more.
    const bool vectors = from.kind == ir::TypeKind::kVector && to.kind == ir::TypeKind::kVector &&
                         from.scalar == to.scalar && to.rows <= from.rows;
    if (!vectors && output.row.type != input.row.type) {
      return Disagree(input, ir::TypeText(pool_, output.row.type),
                      ir::TypeText(pool_, input.row.type));
    }
    if (!output.location.has_value()) {
      return;  // said
    }
    if (input.given && *input.location != *output.location) {
      return Disagree(input, PlaceText(*output.location), PlaceText(*input.location));
    }
    input.location = output.location;
  }

  void Disagree(const DraftRow& input, std::string_view a, std::string_view b) {
    Fail(Make(Code::kHlsl5011, input.where)
             .With("semantic", SemanticText(pool_, *input.semantic))
             .With("a", a)
             .With("b", b));
  }

  // A next stage may read only what this one declares. Where the authors gave locations it may be
  // there under another name.
  void DeclareMissing(InterfaceDraft& vertex) {
    for (const DraftRow* input : missing_) {
      const uint32_t count = LocationsOf(pool_, input->row.type);
      if (std::ranges::any_of(vertex.rows, [&](const DraftRow& row) {
            return Is(row, ir::Direction::kOut) && row.location.has_value() &&
                   Meet(*row.location, LocationsOf(pool_, row.row.type), *input->location, count);
          })) {
        continue;
      }
      // A copy of the input: same name, type and location.
      DraftRow output = *input;
      output.row.direction = ir::Direction::kOut;
      vertex.unwritten.push_back(static_cast<uint32_t>(vertex.rows.size()));
      vertex.rows.push_back(std::move(output));
    }
  }

  // --- numbers
  void Number(InterfaceDraft& draft, ir::Direction direction) {
    const bool reads = draft.stage == ir::Stage::kFragment && direction == ir::Direction::kIn;
    CheckAllOrNone(draft, direction);
    // Given locations come first and are fixed; the others take the first gap in the order of the
    // declaration.
    for (DraftRow& row : draft.rows) {
      if (Is(row, direction) && !row.location.has_value()) {
        row.location = FirstFree(draft, direction, LocationsOf(pool_, row.row.type), reads);
      }
    }
    for (size_t i = 0; i < draft.rows.size(); ++i) {
      if (Is(draft.rows[i], direction)) {
        CheckPlace(draft, i);
      }
    }
  }

  // Of what the authors give: linked and numbered targets have their locations from elsewhere.
  void CheckAllOrNone(const InterfaceDraft& draft, ir::Direction direction) {
    const DraftRow* with = nullptr;
    const DraftRow* without = nullptr;
    for (const DraftRow& row : draft.rows) {
      if (Is(row, direction)) {
        with = row.given && with == nullptr ? &row : with;
        without = !row.location.has_value() && without == nullptr ? &row : without;
      }
    }
    const bool linked =
        draft.stage == ir::Stage::kFragment && direction == ir::Direction::kIn && is_linked_;
    if (with != nullptr && without != nullptr && !linked) {
      Fail(Make(Code::kLay2007, without->where)
               .With("name", without->path)
               .With("other", with->path));
    }
  }

  static bool Meet(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count) {
    return a < uint64_t{b} + b_count && b < uint64_t{a} + a_count;
  }

  uint32_t FirstFree(const InterfaceDraft& draft, ir::Direction direction, uint32_t count,
                     bool reads) const {
    const auto free = [&](uint32_t location) {
      // Given and linked rows have their locations already, so free ones are put around them.
      const auto meets = [&](const DraftRow& row) {
        return row.location.has_value() &&
               Meet(location, count, *row.location, LocationsOf(pool_, row.row.type));
      };
      return std::ranges::none_of(
                 draft.rows,
                 [&](const DraftRow& row) { return Is(row, direction) && meets(row); }) &&
             (!reads ||
              std::ranges::none_of(taken_, [&](const DraftRow* row) { return meets(*row); }));
    };
    uint32_t location = 0;
    // Beyond the limit the search ends, and CheckPlace reports it.
    while (location < kMostLocations && !free(location)) {
      ++location;
    }
    return location;
  }

  void CheckPlace(const InterfaceDraft& draft, size_t row) {
    const DraftRow& checked = draft.rows[row];
    const uint32_t count = LocationsOf(pool_, checked.row.type);
    if (uint64_t{*checked.location} + count > kMostLocations) {
      Fail(Make(Code::kLim1001, checked.where)
               .With("what", "the interface of '" + std::string(draft.entry) + "'")
               .With("parts", "locations")
               .With("limit", kMostLocations));
      return;
    }
    // Compared with the rows before it, so each pair is reported once.
    for (size_t i = 0; i < row; ++i) {
      const DraftRow& other = draft.rows[i];
      // Two outputs with different indices may share a location: they are the two sources of
      // blending.
      if (Is(other, checked.row.direction) && other.index == checked.index &&
          Meet(*other.location, LocationsOf(pool_, other.row.type), *checked.location, count)) {
        Fail(Make(Code::kLay2001, checked.where)
                 .With("name", checked.path)
                 .With("other", other.path)
                 .With("place", PlaceText(std::max(*checked.location, *other.location))));
        return;
      }
    }
  }

  // --- attributes, in the order of the text form
  static void Finish(InterfaceDraft& draft) {
    for (DraftRow& row : draft.rows) {
      if (!row.located || !row.location.has_value()) {
        continue;
      }
      std::vector<ir::Attribute>& attributes = row.row.attributes;
      auto at =
          std::ranges::find(attributes, ir::AttributeKey::kInterpolation, &ir::Attribute::key);
      at = attributes.insert(at, {.key = ir::AttributeKey::kLocation, .a = *row.location});
      if (row.index != 0) {
        attributes.insert(at + 1, {.key = ir::AttributeKey::kIndex, .a = row.index});
      }
    }
  }

  void Fail(Diagnostic found) {
    failed_ = true;
    diagnostics_.push_back(std::move(found));
  }

  const ir::Pool& pool_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<const DraftRow*> taken_;    // outputs of the stage before
  std::vector<const DraftRow*> missing_;  // inputs that it does not write
  bool is_linked_ = false;                // there is a stage before the fragment's
  bool failed_ = false;
};

}  // namespace

bool Locate(std::span<InterfaceDraft> drafts, const ir::Pool& pool,
            std::vector<Diagnostic>& diagnostics) {
  return Locator(pool, diagnostics).Run(drafts);
}

}  // namespace kiln::resolve
