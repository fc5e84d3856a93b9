// column[i] <- e^-column[i], for column[i] >= 0.
template <class Scalar>
void exponential(Scalar* column, Index rows) {
  Index row = 0;
  for (; row + kLanes<Scalar> <= rows; row += kLanes<Scalar>)
    store<Scalar>(column + row, exp_minus<Scalar>(load<Scalar>(column + row)));
  if (const Index rest = rows - row) {
    const Pack<Scalar> last = exp_minus<Scalar>(load_first<Scalar>(column + row, rest));
    store_first<Scalar>(column + row, last, rest);
  }
}
