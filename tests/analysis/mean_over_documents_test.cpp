#include "../../analysis/pass/mean_over_documents.h"

#include <cmath>

#include "../../analysis/pass/document_sum.h"
#include "../catch.h"
#include "found_field.h"

using namespace headwave;

TEST_CASE("a mean over documents and its standard error: by hand, over the documents that define them") {
  MeanOverDocuments sum;
  for (const auto& [always, sometimes] : {std::pair{1.0, not_defined}, {2.0, 5.0}, {6.0, not_defined}})
    add_to(sum, MeanOverDocuments((Matrix(1, 3) << always, sometimes, not_defined).finished()));
  CHECK(sum.mean()(0, 0) == 3);
  CHECK(sum.error()(0, 0) == Approx(std::sqrt((4.0 + 1 + 9) / 2 / 3)));
  CHECK(sum.mean()(0, 1) == 5);
  CHECK(std::isnan(sum.error()(0, 1)));
  CHECK(std::isnan(sum.mean()(0, 2)));
  CHECK(std::isnan(sum.error()(0, 2)));
}

TEST_CASE("documents that agree have a standard error of 0, not the root of a rounding error below 0") {
  MeanOverDocuments sum;
  for (int document = 0; document < 7; ++document) add_to(sum, MeanOverDocuments(Matrix::Constant(1, 1, 0.1)));
  CHECK(sum.error()(0, 0) < 1e-8);
}

TEST_CASE("a mean over documents gives two Fields, and the column belongs to the mean") {
  MeanOverDocuments sum(Matrix::Constant(2, 3, 0.5));
  add_to(sum, MeanOverDocuments(Matrix::Constant(2, 3, 1.0)));
  Fields fields("group");
  sum.add_fields(fields, 1, "share", {head_axis(3)}, "1", "a share", "no row", {{"column", "share"}});
  const std::vector<Field> found = fields.taken();
  CHECK(field_of(found, "group/share").doubles() == std::vector<double>(3, 0.75));
  CHECK(attribute_text(field_of(found, "group/share").attributes, "column") == "share");
  CHECK(field_of(found, "group/share_error").doubles()[0] == Approx(0.25));
  CHECK(attribute_text(field_of(found, "group/share_error").attributes, "column").empty());
  CHECK(attribute_text(field_of(found, "group/share_error").attributes, "undefined") ==
        "fewer than two documents, or no row");
}
