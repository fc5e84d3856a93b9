// Chances of labels from scores, a pack of rows at a time; rows are the lanes, so that maxima and sums are not across them.
// The last rows fill a pack only in part: `count` is zero where it is full, which is known when this is compiled.
template <class Scalar>
STAGENETS_INLINE void softmax_pack(const SoftmaxRows<Scalar>& all, Index row, Index count) {
  const auto read = [row, count](const Scalar* column) {
    return count == 0 ? load<Scalar>(column + row) : load_first<Scalar>(column + row, count);
  };
  const auto write = [row, count](Scalar* column, Pack<Scalar> values) {
    count == 0 ? store<Scalar>(column + row, values)
               : store_first<Scalar>(column + row, values, count);
  };
  Pack<Scalar> largest = read(all.scores);
  for (Index c = 1; c < all.outputs; ++c) {
    const Pack<Scalar> score = read(all.scores + c * all.ld_scores);
    largest = score > largest ? score : largest;
  }
  Pack<Scalar> gap = {}, total = {}, square = {};
  for (Index c = 0; c < all.outputs; ++c) {
    Scalar* column = all.scores + c * all.ld_scores;
    const Pack<Scalar> below = largest - read(column);
    gap = mul_add(below, read(all.labels + c * all.ld_labels), gap);
    const Pack<Scalar> power = exp_minus<Scalar>(below);
    total += power;
    write(column, power);
  }
  const Pack<Scalar> inverse = Scalar(1) / total;
  for (Index c = 0; c < all.outputs; ++c) {
    Scalar* column = all.scores + c * all.ld_scores;
    const Pack<Scalar> chance = read(column) * inverse;
    square = mul_add(chance, chance, square);
    write(column, read(all.labels + c * all.ld_labels) - chance);
  }
  write(all.gaps, gap);
  write(all.totals, total);
  write(all.squares, square);
}

template <class Scalar>
void softmax(const SoftmaxRows<Scalar>& all) {
  if (all.outputs == 0) return;
  Index row = 0;
  for (; row + kLanes<Scalar> <= all.rows; row += kLanes<Scalar>) softmax_pack(all, row, 0);
  if (row < all.rows) softmax_pack(all, row, all.rows - row);
}
