#include "../../analysis/predictions/head_account.h"

#include <cmath>
#include <numeric>

#include "../../core/attention/attend.h"
#include "../../core/attention/bias_terms.h"
#include "../catch.h"
#include "drawn_scores.h"

using namespace headwave;

namespace {

HeadAccountOptions with_draws(Index draws) {
  HeadAccountOptions options;
  options.draws = draws;
  return options;
}

/// One bump of content at an offset.
Vector bump(const DrawnScores& spec, double at, double height, double width) {
  Vector content(2 * spec.length - 1);
  for (Index t = 0; t < content.size(); ++t)
    content[t] = height * std::exp(-0.5 * std::pow((static_cast<double>(t - spec.length + 1) - at) / width, 2));
  return content;
}

}  // namespace

TEST_CASE("an explained share is that of a sum of squares on the page", "[analysis]") {
  const Vector measured = (Vector(3) << std::exp(1.0), std::exp(2.0), std::exp(3.0)).finished();
  const Vector predicted = (Vector(3) << std::exp(2.0), std::exp(3.0), std::exp(5.0)).finished();
  // Differences 1, 1, 2 against deviations -1, 0, 1; centred -1/3, -1/3, 2/3.
  CHECK(explained_share(measured, predicted, false) == Approx(1 - 6.0 / 2.0));
  CHECK(explained_share(measured, predicted, true) == Approx(1 - (6.0 / 9.0) / 2.0));
  CHECK(explained_share(measured, measured, false) == 1.0);
  CHECK(std::isnan(explained_share(measured.head(2), predicted.head(2), false)));
  CHECK(std::isnan(explained_share(Vector::Constant(5, 0.2), Vector::Constant(5, 0.1), true)));
  const Vector masked = (Vector(4) << measured, not_defined).finished();
  CHECK(explained_share(masked, (Vector(4) << predicted, 1.0).finished(), true) ==
        explained_share(measured, predicted, true));
}

TEST_CASE("a planted head's position term is its whole account", "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {0.8, 0.7, 0.6, 0.5};
  spec.offset = -3;
  spec.deviation = 0.1;
  const HeadAccount account = head_account(drawn_groups(spec, 16, Random(1)), site_of(spec));
  CHECK(account.verdict[0] == AccountVerdict::positional);
  CHECK(account.offset[0][0] == -3);
  CHECK(account.measured_offset[0] == -3);
  CHECK(account.share[0][0] > 0.99);
  CHECK(account.shape[0][0] > 0.99);
  CHECK(account.kernel[1].cwiseAbs().maxCoeff() < 0.03);
  CHECK(account.kernel[2].maxCoeff() < 0.01);
  CHECK(account.alignment[0] > 0.99);
  CHECK(account.null_high[0][0] < 0.5);
  CHECK(account.share_lower[0][0] <= account.share[0][0]);
}

TEST_CASE("a content head has none of position", "[analysis]") {
  DrawnScores spec;
  spec.random_positions = true;
  spec.content = bump(spec, -2, 3, 1.5);
  spec.deviation = 0.3;
  spec.amplitudes = {};
  auto groups = drawn_groups(spec, 24, Random(2));
  const HeadAccount account = head_account(groups, site_of(spec));
  CHECK(account.verdict[0] == AccountVerdict::content);
  CHECK(account.shape[0][0] < 0.1);
  CHECK(account.shape[1][0] > 0.95);
  CHECK(account.offset[1][0] == -2);
  CHECK(account.q_value[0] > 0.05);
  CHECK(account.null_high[1][0] < 0.5);
}

TEST_CASE("normal scores of known mean and variance are explained by three terms", "[analysis]") {
  // E[e^s] = e^(m + v/2): with a variance that depends on the offset the first two terms are not enough.
  DrawnScores spec;
  spec.amplitudes = {0.5, 0.4};
  spec.offset = 2;
  spec.length = 160;
  spec.content = bump(spec, 4, 1, 3);
  spec.deviation_by_offset = bump(spec, -6, 1.6, 4);
  const HeadAccount account = head_account(drawn_groups(spec, 240, Random(8)), site_of(spec), with_draws(0));
  CHECK(account.shape[1][0] < 0.9);
  CHECK(account.share[2][0] > 0.99);
  for (Index t = -spec.reach; t <= spec.reach; ++t) {
    const double v = std::pow(spec.deviation_by_offset[t + spec.length - 1], 2);
    CHECK(account.kernel[2](0, t + spec.reach) == Approx(v / 2).margin(0.05));
  }
}

TEST_CASE("mixed heads give their shares back within the interval", "[analysis]") {
  for (const double height : {0.9, 1.4, 2.2}) {
    DrawnScores spec;
    spec.amplitudes = {0.5, 0.45, 0.4};
    spec.offset = -6;
    spec.content = bump(spec, 5, height, 2);
    spec.deviation = 0.5;
    const double planted = planted_shape(spec);
    const HeadAccount account = head_account(drawn_groups(spec, 40, Random(4)), site_of(spec));
    INFO("planted " << planted << ", found " << account.shape[0][0] << " in " << account.shape_lower[0][0] << " .. "
                    << account.shape_upper[0][0]);
    CHECK(account.shape[0][0] == Approx(planted).margin(0.02));
    CHECK(account.shape[2][0] > 0.98);
    CHECK(account.verdict[0] == (planted > 0.75   ? AccountVerdict::positional
                                 : planted > 0.25 ? AccountVerdict::mixed
                                                  : AccountVerdict::content));
  }
}

TEST_CASE("an added position term is part of the account", "[analysis]") {
  // ALiBi on queries and keys that hold nothing: the slope is the whole profile.
  const Index length = 64, heads = 2;
  const LinearBiasTerm slopes(heads);
  std::vector<AccountSums> groups(6);
  Random random(9);
  for (AccountSums& group : groups) {
    Matrix32 query(length, heads * 4), key(length, heads * 4);
    for (float& entry : query.reshaped()) entry = static_cast<float>(0.1 * random.normal());
    for (float& entry : key.reshaped()) entry = static_cast<float>(0.1 * random.normal());
    AccountProbe probe({{0}, heads}, length, 16, AttentionKind::causal);
    std::array<Probe*, 1> probes{&probe};
    const HeadInputs<float> inputs{query, key, {}, heads, heads, 0.5, &slopes};
    attend<float>(inputs, {true, -1, -1, {}, 0}, {0, AttentionKind::causal, nullptr}, probes);
    group += probe.taken();
  }
  AccountSite site;
  site.grid = {{0}, heads};
  site.kind = AttentionKind::causal;
  site.length = length;
  site.reach = 16;
  site.kv_heads = heads;
  site.score_scale = 0.5;
  site.added = &slopes;
  const HeadAccount account = head_account(groups, site);
  for (Index head = 0; head < heads; ++head) {
    CHECK(account.share[0][head] > 0.99);
    CHECK(account.verdict[static_cast<std::size_t>(head)] == AccountVerdict::positional);
    CHECK(account.offset[0][head] == 0);
    CHECK(std::isnan(account.measured(head, 17)));
  }
}

TEST_CASE("an account does not change with the number of threads, and does with the seed only in its null",
          "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {0.5, 0.4};
  spec.content = bump(spec, 3, 1, 2);
  spec.deviation = 0.4;
  const auto groups = drawn_groups(spec, 9, Random(6));
  HeadAccountOptions options = with_draws(6);
  const HeadAccount one = head_account(groups, site_of(spec), options);
  options.threads = 3;
  const HeadAccount three = head_account(groups, site_of(spec), options);
  CHECK(one.shape_lower[2][0] == three.shape_lower[2][0]);
  CHECK(one.null_shape[1][0] == three.null_shape[1][0]);
  options.seed = 2;
  const HeadAccount other = head_account(groups, site_of(spec), options);
  CHECK(one.shape[2][0] == other.shape[2][0]);
  CHECK(one.null_shape[0][0] != other.null_shape[0][0]);
}

TEST_CASE("a head of noise has no preferred offset, however well noise explains itself", "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {};
  spec.deviation = 1.5;
  const HeadAccount account = head_account(drawn_groups(spec, 16, Random(12)), site_of(spec));
  CHECK(account.shape[1][0] > account.held_out[1][0] + 0.1);
  CHECK(account.held_out[1][0] < 0.2);
  CHECK(account.replicated[0] < 0.2);
  CHECK(account.verdict[0] == AccountVerdict::no_preference);
}

TEST_CASE("without enough documents there is no interval, without a null no head is positional", "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {0.8, 0.7};
  spec.deviation = 0.1;
  const HeadAccount account = head_account(drawn_groups(spec, 4, Random(7)), site_of(spec), with_draws(0));
  CHECK(std::isnan(account.shape_lower[0][0]));
  CHECK(std::isnan(account.q_value[0]));
  CHECK(account.verdict[0] == AccountVerdict::no_preference);
  CHECK(account.shape[0][0] > 0.99);
}

TEST_CASE("where positions are zero no head is positional, whatever texts have in common at a place", "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {0.8, 0.7};
  spec.deviation = 0.1;
  AccountSite site = site_of(spec);
  const auto verdict = [&] { return head_account(drawn_groups(spec, 8, Random(7)), site).verdict[0]; };
  CHECK(verdict() == AccountVerdict::positional);
  site.no_positions = true;
  CHECK(verdict() == AccountVerdict::content);
  site.kind = AttentionKind::causal;
  CHECK_FALSE(site.tells_places(0));
  site.grid.layers = {1};
  CHECK(site.tells_places(0));  // which may count the keys that the mask leaves
}

TEST_CASE("of one document there is no verdict and no share, for its own means would explain it wholly", "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {0.8, 0.7};
  spec.deviation = 1;
  const HeadAccount account = head_account(drawn_groups(spec, 1, Random(7)), site_of(spec));
  for (std::size_t term = 0; term < account_terms; ++term) {
    CHECK(std::isnan(account.shape[term][0]));
    CHECK(std::isnan(account.share[term][0]));
  }
  CHECK(account.verdict[0] == AccountVerdict::undefined);
  CHECK(head_account(drawn_groups(spec, 2, Random(7)), site_of(spec)).verdict[0] != AccountVerdict::undefined);
}

TEST_CASE("an account of nothing, or of sums of another shape, is refused", "[analysis]") {
  DrawnScores spec;
  spec.amplitudes = {0.8};
  CHECK_THROWS_AS(head_account({}, site_of(spec)), ShapeError);
  CHECK_THROWS_AS(head_account({AccountSums{}}, site_of(spec)), ShapeError);
  const auto groups = drawn_groups(spec, 2, Random(7));
  AccountSite site = site_of(spec);
  site.length += 1;
  CHECK_THROWS_AS(head_account(groups, site), ShapeError);
  site = site_of(spec);
  site.reach -= 1;
  CHECK_THROWS_AS(head_account(groups, site), ShapeError);
}
