#include "published.h"

#include <limits>

namespace headwave {

namespace {

constexpr double any = std::numeric_limits<double>::infinity();

bool has_sizes(const Model& model, Index layers, Index heads, Index d_model) {
  return model.stack.layers() == layers && model.stack.block.heads == heads && model.stack.d_model() == d_model;
}

}  // namespace

std::string published_model(const Model& model) {
  if (!has_sizes(model, 12, 12, 768)) return "";
  if (model.family == "roberta") return "roberta-base";
  return model.family == "gpt2" ? "gpt2" : "";
}

const std::vector<Published>& published_of(std::string_view model) {
  static const std::vector<Published> roberta{
      {"heads in one or two clusters", "almost every head's texts", 0.9, 1, "JP 3.1, figure 1"},
      {"offset of L7H8", "-1: sharp on the left neighbour", -1, -1, "JP figures 2 and 7"},
      {"offset of L1H2", "+1: sharp on the right neighbour", 1, 1, "JP 3.1, 3.4, figure 2"},
      {"strongest frequency of the positions", "peaks about 50 cycles per 512", 40, 63, "JP 3.2, figure 3"},
      {"highest peak of the positions", "periods of about 8 tokens or more: below 64", 1, 63, "EN 4.2"},
      {"contrast of the word sequence", "no peak", 0, 2, "JP 3.2, figure 3"},
      {"variance of the positions in 4 components", "50.51 %", 0.4951, 0.5151, "JP appendix B"},
      {"variance of the positions in 12 components", "92.23 %", 0.9173, 0.9273, "JP appendix B"},
      {"highly correlated components", "5 to 20", 5, 20, "EN, correlation by layer"},
      {"fall of the correlation with depth", "falls", 0, any, "EN, correlation by layer"},
      {"periodic columns of heads with an offset", "about 4 to 12", 4, 12, "JP 3.3, appendix B"},
      {"frequencies of columns 5 and 6 of L0H0", "one frequency: difference 0", 0, 1, "JP 3.3, figure 4"},
      {"contrast of queries in layer 0", "a peak about f = 50", 2, any, "JP 3.3, figure 5"},
      {"contrast of keys in layer 0", "a peak about f = 50", 2, any, "JP 3.3, figure 5"},
      {"contrast of states in layer 0", "no peak", 0, 2, "JP 3.3, figure 5"},
      {"decay of the contrast of queries", "decays with depth", 0, any, "JP 3.3, figure 5"},
      {"lag of column 5 of L0H0", "-2 or -3", -3, -2, "JP 3.5, figure 7"},
      {"lag of column 6 of L0H0", "-2 or -3", -3, -2, "JP 3.5, figure 7"},
      {"weighted sum of L0H0", "about -2", -3, -1, "JP 3.5, figure 7"},
      {"weighted sum of L7H8", "-1", -1, -1, "JP 3.5, figure 7"},
      {"phases of L0H0", "Delta from 1 to 3: t* from -3 to -1", -3, -1, "JP 3.4, figure 6"},
      {"phases of L1H2", "Delta = -1: t* = +1", 0.5, 1.5, "JP 3.4, figure 6"},
      {"weight of L7H8 at its offset, positions only", "no spike", 0, 0.5, "EN, what carries it"},
      {"weight of L7H8 at its offset, words only", "mostly flat", 0, 0.5, "EN, what carries it"},
      {"weight of L7H8 at its offset, words shuffled", "the spike stays", 0.5, any, "EN, what carries it"}};
  static const std::vector<Published> gpt2{
      {"energy of the positions below 10 cycles", "low frequencies only", 0.9, 1, "JP appendix A, figure 8"},
      {"mean layer of heads with an offset", "in low layers", 0, 5.5, "EN, GPT-2"}};
  static const std::vector<Published> none;
  if (model == "roberta-base") return roberta;
  return model == "gpt2" ? gpt2 : none;
}

}  // namespace headwave
