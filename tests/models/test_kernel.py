"""Kernels as models: which matrices are semi-definite."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from pushrank.models import Kernel, KernelModel


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_semi_definite_kernel_passes_whatever_its_rank_and_precision(dtype):
    X = scale(load_breast_cancer().data)
    for values in (X[:, :1] @ X[:, :1].T, X @ X.T, rbf_kernel(X, gamma=1e-4), np.zeros((3, 3))):
        KernelModel(values.astype(dtype), Kernel("precomputed"), 1 << 30).check_definite()
        KernelModel((values + 1e4).astype(dtype), Kernel("precomputed"), 1 << 30).check_definite()
