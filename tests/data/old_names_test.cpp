#include "../../data/results/old_names.h"

#include <fmt/format.h>

#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("result file: Fields and axes of older files are read by the names that they have now") {
  const TemporaryFolder folder;
  const std::vector<Axis> heads{layer_axis(1), head_axis(2)};
  Result old;
  for (const auto& [group, before, now] : old_quantities)
    old.fields.push_back(make_field(fmt::format("{}/{}", group, before), heads, "token", "", {1, 2}));
  old.fields.push_back(
      make_field("position_atlas/kernel", {head_axis(2), offset_axis("kernel_offset", -1, 0)}, "1", "", {1, 2, 3, 4}));
  old.fields.push_back(make_field("cross_covariance/weighted", {offset_axis("lag", 0, 1)}, "1", "", {1, 2}));
  Field verdict =
      make_field("head_account/part", {{"cause", "1", "", std::vector<std::string>{"self", "order"}}}, "1", "", {1, 2});
  old.fields.push_back(verdict);
  write_result(old, folder / "r.h5");
  const Result now = read_result(folder / "r.h5");
  for (const char* name : {"position_atlas/predicted_offset", "position_atlas/predicted_weight",
                           "word_atlas/predicted_offset", "delay_spectrum/predicted_offset"})
    CHECK(now.at(name).doubles() == std::vector<double>{1, 2});
  CHECK(now.at("position_atlas/kernel").axis("offset").size() == 2);
  CHECK(now.at("cross_covariance/weighted").axes[0].name == "offset");
  CHECK(std::get<std::vector<std::string>>(now.at("head_account/part").axes[0].values) ==
        std::vector<std::string>{"self", "context"});
  const Hdf5File file(folder / "r.h5");
  CHECK(read_result(file, {"position_atlas/predicted_offset"}).fields.size() == 1);
  CHECK(check_result(file).problems.empty());
}
