#include "stagenets/majorized_readout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stagenets/calibration.hpp"
#include "stagenets/cholesky.hpp"
#include "stagenets/products.hpp"

namespace stagenets {
namespace {

// Calls body(rows before it, piece) for pieces of a range whose scores stay in the first-level cache.
template <class Body>
void for_each_piece(RowRange range, Index outputs, Body&& body) {
  constexpr Index kScores = 2048;
  const Index most = std::max<Index>(16, kScores / outputs);
  for (Index done = 0; done < range.count; done += most) {
    body(done, RowRange{range.first + done, std::min(most, range.count - done)});
  }
}

}  // namespace

template <class Scalar>
MajorizedReadout<Scalar>::MajorizedReadout(const CoordinateFactor<Scalar>& factor,
                                           const Targets& targets, Loss loss,
                                           const RowWeights& weights, const RowBlocks& blocks,
                                           Team& team)
    : factor_(factor),
      targets_(targets),
      roots_(weights.root_data()),
      left_out_(weights.left_out_data()),
      blocks_(blocks),
      team_(team),
      wants_bounded_(loss == Loss::bounded),
      loss_(targets.task(), targets.outputs()),
      bounds_(loss_.curvature_bounds()),
      theta_{MatrixD::Zero(0, targets.outputs()), {}},
      scores_(blocks, targets.outputs()),
      errors_(blocks, targets.outputs()),
      total_weight_(
          blocks.complete(roots_ ? Eigen::Map<const VectorD>(roots_, targets.rows()).squaredNorm()
                                 : static_cast<double>(targets.rows()))) {
  move_to(theta_);
  if (factor.is_implicit()) {
    grow_implicitly();
  } else {
    grow(factor.fixed_width());
  }
  refit_if_due();
}

// The samples of a block; pairs of a graph, which come last, have no label.
template <class Scalar>
RowRange MajorizedReadout<Scalar>::samples_of(Index block) const {
  const RowRange range = blocks_.block(block);
  const Index first = std::min(range.first, targets_.rows());
  return {first, std::min(range.count, targets_.rows() - first)};
}

// Errors of a block from its scores; adds its loss, the energy of its scores and its curvature to the sums. The loss of a
// pair is κ/2 ‖f‖², which with weights of γ/κ is γ/2 times the squared difference of its scores; its working response
// is zero.
template <class Scalar>
void MajorizedReadout<Scalar>::measure_block(Index block, double* sums) {
  const RowRange range = samples_of(block);
  const auto all_scores = scores_.block(block, 0, outputs());
  auto all_errors = errors_.block(block, 0, outputs());
  const Index pairs = all_scores.rows() - range.count;
  const auto energy_of = [&](const MatrixD& scores) {
    return bounds_.dot(scores.colwise().squaredNorm());
  };
  const double energy_of_pairs = energy_of(all_scores.bottomRows(pairs).template cast<double>());
  sums[0] += energy_of_pairs / 2;
  sums[1] += energy_of_pairs;
  all_errors.bottomRows(pairs) =
      all_scores.bottomRows(pairs) * (-bounds_).template cast<Scalar>().asDiagonal();
  for_each_piece(range, outputs(), [&](Index done, RowRange piece) {
    const BlockWeights weights(roots_, piece);
    MatrixD scores = all_scores.middleRows(done, piece.count).template cast<double>();
    sums[1] += energy_of(scores);
    weights.unscale(scores);
    const RowLoss::Sums found =
        loss_.to_errors(scores, targets_.values().middleRows(piece.first, piece.count), weights);
    sums[0] += found.loss;
    sums[2] += found.curvature;
    weights.scale(scores);
    all_errors.middleRows(done, piece.count) = scores.template cast<Scalar>();
  });
}

template <class Scalar>
void MajorizedReadout<Scalar>::measured(const double* sums) {
  total_loss_ = sums[0];
  const double energy = bounds_.dot(theta_.energies());
  objective_ = total_loss_ + ratio_ * std::max(0.0, energy - sums[1]) / 2;
  curvature_ = sums[2];
}

// Sets the scales to where the objective is least, given the scores.
template <class Scalar>
void MajorizedReadout<Scalar>::fit_scales() {
  constexpr int kMostSteps = 100;
  const Index q = outputs();
  // Of the samples, for these scales: sums within and beyond them, and the energy of the scores.
  const auto sums_at = [&](const Eigen::RowVectorXd& scales) {
    return blocks_.sum(team_, 3 * q, [&](double* sums, Index b, int) {
      const RowRange range = samples_of(b);
      if (range.count == 0) return;
      const BlockWeights weights(roots_, range);
      MatrixD scores = scores_.block(b, 0, q).topRows(range.count).template cast<double>();
      Eigen::Map<Eigen::RowVectorXd>(sums + 2 * q, q) += scores.colwise().squaredNorm();
      weights.unscale(scores);
      const auto targets = targets_.values().middleRows(range.first, range.count);
      const RowLoss::ScaleSums found = RowLoss::scale_sums(scores, targets, weights, scales);
      Eigen::Map<Eigen::RowVectorXd>(sums, q) += found.within;
      Eigen::Map<Eigen::RowVectorXd>(sums + q, q) += found.beyond;
    });
  };
  Eigen::RowVectorXd scales =
      Eigen::RowVectorXd::Constant(q, std::numeric_limits<double>::infinity());
  for (int step = 0; step < kMostSteps; ++step) {
    const VectorD sums = sums_at(scales);
    const Eigen::RowVectorXd penalties =
        (theta_.energies() - sums.tail(q).transpose()).cwiseMax(0.0);
    const Eigen::RowVectorXd next =
        RowLoss::next_scales({sums.head(q), sums.segment(q, q)}, penalties, total_weight_);
    const bool settled = (next.array() >= scales.array()).all();
    scales = scales.cwiseMin(next);
    if (settled) break;
  }
  loss_.set_scales(scales);
  bounds_ = loss_.curvature_bounds();
}

template <class Scalar>
void MajorizedReadout<Scalar>::put_errors(Panels<Scalar>& into) const {
  const Vector<Scalar> factors =
      (2 * bounds_).cwiseSqrt().cwiseInverse().transpose().template cast<Scalar>();
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    into.block(b, 0, outputs()) = errors_.block(b, 0, outputs()) * factors.asDiagonal();
  }
}

template <class Scalar>
void MajorizedReadout<Scalar>::grow(Index count) {
  const Index first = width(), q = outputs();
  const FactorColumns<Scalar> columns = factor_.columns(first, count);
  const Index made = columns.width();
  const RowBlocks blocks = blocks_.for_sums(made * q);
  const Vector<Scalar> steps = bounds_.cwiseInverse().transpose().template cast<Scalar>();
  const VectorD total = blocks.sum(team_, made * q, [&](double* sums, Index b, int worker) {
    const Matrix<Scalar> working =
        scores_.block(b, 0, q) + errors_.block(b, 0, q) * steps.asDiagonal();
    add_transposed_product(columns.block(b, worker), working, matrix_map(sums, made, q, made));
  });
  const MatrixD step = columns.products(Eigen::Map<const MatrixD>(total.data(), made, q), team_);
  theta_.grow(count);
  theta_.values.bottomRows(count) = step;
  if (theta_.image.size() > 0) theta_.image.bottomRows(count) = step;
  memory_.grow(count);
  const Matrix<Scalar> minus_step = -columns.coefficients(step, team_).template cast<Scalar>();
  const auto score_block = [&](Index b, int worker) {
    subtract_product(columns.block(b, worker), minus_step, scores_.block(b, 0, q));
  };
  const bool scales_first = loss_.scales_are_free();
  if (scales_first) {
    blocks_.sweep(team_, [&](Index, Index b, int worker) { score_block(b, worker); });
    fit_scales();
  }
  const VectorD measures = blocks_.sum(team_, kSums, [&](double* sums, Index b, int worker) {
    if (!scales_first) score_block(b, worker);
    measure_block(b, sums);
  });
  measured(measures.data());
}

// Columns Q₀ that are not at hand move by Q₀ᵀZ like any others: by V = Z.
template <class Scalar>
void MajorizedReadout<Scalar>::grow_implicitly() {
  MatrixD working(blocks_.rows(), outputs());
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    const RowRange range = blocks_.block(b);
    working.middleRows(range.first, range.count) =
        scores_.block(b, 0, outputs()).template cast<double>() +
        errors_.block(b, 0, outputs()).template cast<double>() *
            bounds_.cwiseInverse().asDiagonal();
  }
  MatrixD image = factor_.image(working, team_);
  move_to({std::move(working), std::move(image)});
}

template <class Scalar>
Coordinates MajorizedReadout<Scalar>::move_to(const Coordinates& theta) {
  const Index implicit = theta.image.size() > 0 ? factor_.fixed_width() : 0;
  const Index d = theta.values.rows() - implicit, q = outputs();
  const FactorColumns<Scalar> columns = factor_.columns(implicit, d);
  const Index made = columns.width(), size = made * q;
  const Matrix<Scalar> minus_theta =
      -columns.coefficients(theta.values.bottomRows(d), team_).template cast<Scalar>();
  MatrixD gradient(implicit + d, q);
  const RowBlocks blocks = blocks_.for_sums(size + kSums);
  const auto score_block = [&](Index b, int worker) {
    MatrixMap<Scalar> scores = scores_.block(b, 0, q);
    if (implicit > 0) {
      const RowRange range = blocks_.block(b);
      scores = theta.image.middleRows(range.first, range.count).template cast<Scalar>();
    } else {
      scores.setZero();
    }
    if (d > 0) subtract_product(columns.block(b, worker), minus_theta, scores);
  };
  theta_ = theta;
  const bool scales_first = loss_.scales_are_free();
  if (scales_first) {
    blocks_.sweep(team_, [&](Index, Index b, int worker) { score_block(b, worker); });
    fit_scales();
  }
  const Vector<Scalar> bounds = (ratio_ * bounds_).transpose().template cast<Scalar>();
  const VectorD total = blocks.sum(team_, size + kSums, [&](double* sums, Index b, int worker) {
    if (!scales_first) score_block(b, worker);
    measure_block(b, sums + size);
    if (implicit + d == 0) return;
    const Matrix<Scalar> pull =
        -(errors_.block(b, 0, q) + scores_.block(b, 0, q) * bounds.asDiagonal());
    if (implicit > 0) {
      const RowRange range = blocks_.block(b);
      gradient.middleRows(range.first, range.count) = pull.template cast<double>();
    }
    if (d > 0) {
      add_transposed_product(columns.block(b, worker), pull, matrix_map(sums, made, q, made));
    }
  });
  measured(total.data() + size);
  gradient.bottomRows(d) =
      columns.products(Eigen::Map<const MatrixD>(total.data(), made, q), team_);
  gradient += theta_.values * (ratio_ * bounds_).asDiagonal();
  if (implicit == 0) return {std::move(gradient), {}};
  MatrixD image = gradient;
  image.topRows(implicit) = factor_.image(gradient.topRows(implicit), team_);
  return {std::move(gradient), std::move(image)};
}

template <class Scalar>
std::optional<Coordinates> MajorizedReadout<Scalar>::descend(const Coordinates& start,
                                                             double before, double slope,
                                                             Coordinates& direction) {
  constexpr int kLengths = 3;
  for (int i = 0; i < kLengths; ++i, direction *= 0.5, slope /= 2) {
    Coordinates gradient = move_to(start + direction);
    if (objective_ < before + 1e-4 * slope) return gradient;
  }
  return std::nullopt;
}

// Every step lowers the objective: a direction that does not is replaced by the majorising step, which must. Ends when
// a step would lower it by less than the given fraction, as far as the memory can tell.
template <class Scalar>
void MajorizedReadout<Scalar>::improve(double tolerance, int most_steps) {
  Coordinates start = theta_;
  Coordinates gradient = move_to(start);
  double before = objective_;
  for (int step = 0; step < most_steps; ++step) {
    const Eigen::RowVectorXd steps = steepest().cwiseInverse();  // before they follow the scales
    Coordinates direction = memory_.direction(gradient, steps);
    const double slope = inner(gradient, direction);
    if (-slope / 2 <= tolerance * before) return;
    std::optional<Coordinates> next = descend(start, before, slope, direction);
    if (!next) {
      memory_.forget();
      direction = gradient;
      direction.scale_columns(-steps);
      next = move_to(start + direction);
      if (!(objective_ < before)) {  // at the limit of rounding
        move_to(start);
        return;
      }
    }
    Coordinates change = *next;
    change.add(-1, gradient);
    memory_.remember(direction, std::move(change));
    start += direction;
    gradient = std::move(*next);
    before = objective_;
  }
}

template <class Scalar>
void MajorizedReadout<Scalar>::refit_if_due() {
  constexpr double kGrowth = 1.2, kTolerance = 1e-3;
  constexpr int kSteps = 3;
  const Index rank = width() - factor_.fixed_width() + factor_.fixed_rank();
  if (static_cast<double>(rank) < kGrowth * static_cast<double>(last_refit_)) return;
  last_refit_ = rank;
  improve(kTolerance, kSteps);
}

template <class Scalar>
void MajorizedReadout<Scalar>::converge(double tolerance) {
  const auto by_gradients = [&] { improve(std::max(tolerance, kNegligible), kMostSteps); };
  if (!has_plain_hessian()) {
    by_gradients();
  } else if (!newton(wants_bounded_ ? std::max(tolerance, kNegligible) : tolerance)) {
    by_gradients();
  }
  if (!wants_bounded_ || loss_.bounded()) return;
  loss_.bound();
  memory_.forget();
  by_gradients();
}

template <class Scalar>
void MajorizedReadout<Scalar>::set_penalty(double ratio) {
  if (ratio == ratio_) return;
  ratio_ = ratio;
  memory_.forget();
}

template <class Scalar>
void MajorizedReadout<Scalar>::return_to(const Snapshot& snapshot) {
  memory_ = snapshot.memory;
  last_refit_ = snapshot.last_refit;
  loss_ = snapshot.loss;
  bounds_ = loss_.curvature_bounds();
  move_to(snapshot.theta);
}

// With E = I − QᵀQ, whose eigenvalues are λ / (s² + λ), the leverages add up to tr(I − E), and for the penalty λ / w̄ to
// tr (I − E)B⁻¹ = (1 + 1/β) tr B⁻¹ − K/β, where B = I + βE and β = 1/w̄ − 1.
template <class Scalar>
double MajorizedReadout<Scalar>::leverage_share(double mean_curvature) const {
  constexpr double kSimilar = 0.15;
  if (factor_.is_wide()) return 1;  // where this would take longer than the fit
  const Index width = factor_.width();
  const double beta = 1 / mean_curvature - 1;
  const double grown = static_cast<double>(width - flatter_.width);
  if (grown <= kSimilar * static_cast<double>(flatter_.width) &&
      std::abs(std::log(mean_curvature / flatter_.mean_curvature)) <= kSimilar) {
    return flatter_.share;
  }
  flatter_ = {width, mean_curvature, 1};
  MatrixD b = factor_.shrinkage(width, team_);
  const double leverages = static_cast<double>(width) - b.trace();
  b *= beta;
  b.diagonal().array() += 1;
  if (beta < 1e-6 || !(leverages > 0) || !cholesky(b, team_)) return 1;
  const double flatter =
      (1 + 1 / beta) * inverse_square_norms(b, team_).sum() - static_cast<double>(width) / beta;
  return flatter_.share = std::clamp(flatter / leverages, mean_curvature, 1.0);
}

// One Newton step back from the full fit: without row i, its scores change by −aᵀH⁻¹a times its error, where H is the
// Hessian over the other rows. If all rows had the curvature κ, aᵀH⁻¹a would be h / ((1 − h) κ) with the leverage h of
// the factor. They have the mean curvature w̄κ instead: so it is about h' / ((1 − h') w̄κ) with leverages h' for the penalty
// λ / w̄. Those are less than h by about the same factor in all rows.
template <class Scalar>
typename MajorizedReadout<Scalar>::LeftOut MajorizedReadout<Scalar>::left_out(
    const VectorD& leverage) const {
  constexpr double kLeast = 1e-6;
  const double mean = std::clamp(curvature_ / total_weight_, kLeast, 1.0);
  const double share = leverage_share(mean);
  const VectorD sums = blocks_.sum(team_, 2, [&](double* into, Index b, int) {
    const auto all_scores = scores_.block(b, 0, outputs());
    const auto all_errors = errors_.block(b, 0, outputs());
    for_each_piece(samples_of(b), outputs(), [&](Index done, RowRange piece) {
      const auto labels = targets_.values().middleRows(piece.first, piece.count);
      const VectorD influence = VectorD::NullaryExpr(piece.count, [&](Index i) {
        const double lost = share * leverage[piece[i]] * (left_out_ ? left_out_[piece[i]] : 1.0);
        return lost * loo_growth(lost) / mean;
      });
      const MatrixD steps = all_errors.middleRows(done, piece.count).template cast<double>() *
                            bounds_.cwiseInverse().asDiagonal();
      MatrixD scores = all_scores.middleRows(done, piece.count).template cast<double>() -
                       influence.asDiagonal() * steps;
      const BlockWeights weights(roots_, piece);
      weights.unscale(scores);
      const RowLoss::Sums found = loss_.to_errors(scores, labels, weights);
      into[0] += found.loss;
      into[1] += found.right;
    });
  });
  return {sums[0] / total_weight_, sums[1] / total_weight_};
}

template class MajorizedReadout<float>;
template class MajorizedReadout<double>;

}  // namespace stagenets
