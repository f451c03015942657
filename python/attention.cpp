#include <fmt/format.h>

#include "../core/attention/attend.h"
#include "../core/errors/error.h"
#include "memory.h"
#include "waiting.h"

namespace headwave::python {

namespace {

/// Rows with all heads side by side. A row is contiguous; rows may be apart.
template <class Scalar>
using Rows = nb::ndarray<const Scalar, nb::ndim<2>, nb::device::cpu>;

/// @throws NumericError if an entry is not finite
template <class Scalar>
MatrixViewOf<Scalar> view_of(const Rows<Scalar>& rows, const char* name) {
  const MatrixViewOf<Scalar> view = laid_out(rows, name);
  if (!are_finite(view))
    throw NumericError(fmt::format("attend: {} holds NaN or infinity; expected finite numbers", name));
  return view;
}

template <class Scalar>
nb::object copied(const std::vector<MatrixViewOf<Scalar>>& heads) {
  if (heads.empty()) return nb::none();
  const Index rows = heads.front().rows(), cols = heads.front().cols();
  MatrixOf<Scalar> whole(std::ssize(heads) * rows, cols);
  for (Index head = 0; head < std::ssize(heads); ++head)
    whole.middleRows(head * rows, rows) = heads[static_cast<std::size_t>(head)];
  return owned(std::move(whole), {heads.size(), static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)});
}

template <class Scalar>
NumericError too_large() {
  const bool single = std::is_same_v<Scalar, float>;
  return NumericError(fmt::format("attend: the scores or the output are too large for {}; give smaller numbers{}",
                                  single ? "float32" : "float64", single ? ", or float64" : ""));
}

/// Passes tiles to a Python function.
class CallingProbe : public Probe {
 public:
  CallingProbe(nb::object callable, bool scores) : callable_(std::move(callable)), scores_(scores) {}
  [[nodiscard]] bool wants_scores() const override { return scores_; }
  void see(const Tile& tile) override { hand_on(tile); }
  void see(const Tile64& tile) override { hand_on(tile); }

 private:
  template <class Scalar>
  void hand_on(const TileOf<Scalar>& tile) {
    for (const auto& weights : tile.weights)
      if (!are_finite(weights)) throw too_large<Scalar>();
    const nb::gil_scoped_acquire held;
    callable_(tile.first_row, copied(tile.weights), copied(tile.scores));
  }

  nb::object callable_;
  bool scores_;
};

template <class Scalar>
nb::object attended(const Rows<Scalar>& q, const Rows<Scalar>& k, const std::optional<Rows<Scalar>>& v,
                    const std::optional<Rows<Scalar>>& additive, const nb::object& probe, Index heads, Index kv_heads,
                    double scale, bool causal, Index window, bool scores) {
  HeadInputs<Scalar> inputs;
  inputs.query = view_of<Scalar>(q, "q");
  inputs.key = view_of<Scalar>(k, "k");
  if (v) inputs.value = view_of<Scalar>(*v, "v");
  inputs.heads = heads;
  inputs.kv_heads = kv_heads;
  inputs.scale = scale;
  Mask<Scalar> mask;
  mask.causal = causal;
  mask.window = window;
  if (additive) mask.additive = laid_out(*additive, "mask");
  CallingProbe caller(probe, scores);
  std::vector<Probe*> probes;
  if (!probe.is_none()) probes.push_back(&caller);
  MatrixOf<Scalar> output = waited_for([&] { return attend<Scalar>(inputs, mask, AttentionSite{}, probes); });
  if (!v) return nb::none();
  if (!are_finite(output)) throw too_large<Scalar>();
  const auto rows = static_cast<std::size_t>(output.rows()), cols = static_cast<std::size_t>(output.cols());
  return owned(std::move(output), {rows, cols});
}

template <class Scalar>
void add_attend(nb::module_& module) {
  module.def("attend", &attended<Scalar>, nb::arg("q").noconvert(), nb::arg("k").noconvert(),
             nb::arg("v").noconvert().none(), nb::arg("additive").noconvert().none(), nb::arg("probe").none(),
             nb::arg("heads"), nb::arg("kv_heads"), nb::arg("scale"), nb::arg("causal"), nb::arg("window"),
             nb::arg("scores"), "Computes the attention of heads that lie side by side, (T, heads * d_head).");
}

}  // namespace

void add_attention(nb::module_& module) {
  add_attend<float>(module);
  add_attend<double>(module);
}

}  // namespace headwave::python
