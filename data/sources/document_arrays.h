#pragma once

#include <memory>
#include <string>

#include "../../core/attention/document.h"
#include "stored_contents.h"

namespace headwave {

/// One document among stored arrays.
struct DocumentPlace {
  std::string text;  ///< what {document} stands for
  Index row = 0;     ///< along the axis of documents
  Index length = 0;
  std::string name;
};

/// A document's array of one layer as (T, width), the width of all heads side by side.
/// @throws FormatError if it has another length or no such document, or holds NaN or infinity; Error as the arrays
Matrix32 document_matrix(const StoredArrays& arrays, const StoredPart& part, const DocumentPlace& place);

/// A document's finished attention of one layer, of which nothing is read before somebody asks for rows.
/// @param number  of the document in its source, for messages
/// @throws FormatError if it has another length or no such document
FinishedAttention document_attention(std::shared_ptr<const StoredArrays> arrays, const StoredPart& part,
                                     const DocumentPlace& place, Index number);

}  // namespace headwave
