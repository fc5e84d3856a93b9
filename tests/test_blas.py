"""BLAS comes from SciPy's capsules; only 32-bit integers are taken."""

import pytest
import scipy.linalg.cython_blas as cython_blas
import scipy.linalg.cython_lapack as cython_lapack

from stagenets import _core

INTEGERS = {"gemm": 6, "syrk": 4, "trsm": 4, "trsv": 3, "potrf": 3}


def signature(name):
    # A capsule shows its name, the C signature, between the first and the last quote.
    module = cython_lapack if name.endswith("potrf") else cython_blas
    return repr(module.__pyx_capi__[name]).split('"')[1]


@pytest.mark.parametrize("kind", "sd")
@pytest.mark.parametrize("routine", INTEGERS)
def test_scipys_signature_fits_and_a_64_bit_one_does_not(routine, kind):
    found = signature(kind + routine)
    assert _core.blas_signature_fits(found, INTEGERS[routine])
    for wide in ("long *", "int64_t *", "__pyx_t_blas_int *"):
        assert not _core.blas_signature_fits(found.replace("int *", wide), INTEGERS[routine])


@pytest.mark.parametrize("garbage", ["", "void", "void ()", "(((", "int *, int *"])
def test_garbage_is_not_a_signature(garbage):
    assert not _core.blas_signature_fits(garbage, 6)
