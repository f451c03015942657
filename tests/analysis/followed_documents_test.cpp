#include <cmath>

#include "../../analysis/attention/followed_keys.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index reach = 6;

/// Weight 0.5 at an offset, 0.3 and 0.2 beside it; nothing where a causal mask forbids it.
Vector around(Index offset, bool causal = false) {
  Vector profile = Vector::Constant(2 * reach + 1, 0.01);
  const auto put = [&](Index t, double weight) {
    if (std::abs(t) <= reach) profile[t + reach] = weight;
  };
  put(offset - 1, 0.3);
  put(offset, 0.5);
  put(offset + 1, 0.2);
  if (causal) profile.tail(reach).setConstant(not_defined);
  return profile;
}

MovedProfiles moved(Index before, const std::vector<Index>& after, bool causal = false) {
  MovedProfiles profiles{around(before, causal), Matrix(std::ssize(after), 2 * reach + 1)};
  for (std::size_t s = 0; s < after.size(); ++s)
    profiles.after.row(static_cast<Index>(s)) = around(after[s], causal).transpose();
  return profiles;
}

const std::vector<Index> some_shifts{-2, -1, 1, 2};

}  // namespace

TEST_CASE("a profile's displacement is that at which it agrees with what it was") {
  for (Index t = -4; t <= 4; ++t) CHECK(profile_displacement(around(0), around(t)) == t);
  CHECK(profile_displacement(around(-1, true), around(0, true)) == 1);
  CHECK(profile_displacement(around(-1, true), around(-4, true)) == -3);
  // What became flat did not move by a few tokens: it agrees best where nothing is left of the maximum.
  CHECK(profile_displacement(around(2), Vector::Constant(13, 0.1)) == 6);
  // By hand: [0.1 0.2 0.7] becomes [0.4 0.5 0.1]; one to the left 2/9 and 7/9 meet 4/9 and 5/9, which share
  // 7/9 of their mass; as it is 0.1 + 0.2 + 0.1 are shared; one to the right 1/3 and 2/3 meet 5/6 and 1/6,
  // which share 1/2.
  CHECK(profile_displacement(Vector{{0.1, 0.2, 0.7}}, Vector{{0.4, 0.5, 0.1}}) == -1);
  CHECK(profile_displacement(Vector{{0.1, 0.2, 0.7}}, Vector{{0.1, 0.2, 0.7}}) == 0);
  // A larger weight beside the maximum moves the maximum, not the profile.
  Vector tipped = around(-1);
  tipped[-2 + reach] = 0.55;
  CHECK(profile_displacement(around(-1), tipped) == 0);
  CHECK_THROWS_AS(profile_displacement(Vector(3), Vector(5)), ShapeError);
  CHECK_THROWS_AS(profile_displacement(Vector(4), Vector(4)), ShapeError);
}

TEST_CASE("documents that follow moved keys are counted") {
  const FollowedDocuments found = followed_documents(
      some_shifts, {moved(0, {2, 1, -1, -2}), moved(-1, {-1, -1, -1, -1}), moved(1, {3, 1, 1, -1})}, {});
  CHECK(found.asked == Vector{{3, 3, 3, 3}});
  CHECK(found.followed == Vector{{2, 1, 1, 2}});
  CHECK_THROWS_AS(followed_documents({1, 2}, {moved(0, {1})}, {}), ShapeError);
}

TEST_CASE("a document is asked only where the head may look, and where it looks at anything") {
  const FollowedDocuments causal = followed_documents(
      some_shifts, {moved(-1, {0, 0, -2, -3}, true), moved(-3, {-1, -2, -4, -5}, true)}, {.causal = true});
  CHECK(causal.asked == Vector{{1, 2, 2, 2}});
  CHECK(causal.followed == Vector{{1, 2, 2, 2}});
  const FollowedDocuments near = followed_documents(some_shifts, {moved(-1, {1, 0, -2, -3})}, {.window = 3});
  CHECK(near.asked.head(3) == Vector{{1, 1, 1}});
  CHECK(std::isnan(near.asked[3]));
  CHECK(std::isnan(near.followed[3]));
  CHECK(
      std::isnan(followed_documents(some_shifts, {moved(6, {6, 6, 6, 6})}, {}).asked[0]));  // at the end of the search
  CHECK(std::isnan(followed_documents(some_shifts, {}, {}).asked[0]));
  // Hardly anything of it would lie elsewhere.
  MovedProfiles broad = moved(0, {2, 1, -1, -2});
  broad.before = Vector::Constant(2 * reach + 1, 0.1);
  broad.before[reach] = 0.11;
  CHECK(std::isnan(followed_documents(some_shifts, {broad}, {}).asked[0]));
}
