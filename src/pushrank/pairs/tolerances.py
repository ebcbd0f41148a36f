"""The numerical constants of sums over pairs, each with its reason."""

import numpy as np

# The accuracy of sums of analytic losses.

# By default bins have 11 to 13 nodes; an accuracy of 1e-13 takes 15.
ACCURACY = 1e-10
# Finer accuracies are lost in the rounding of the sums, and coarser ones leave no digit.
MIN_ACCURACY, MAX_ACCURACY = 1e-13, 0.1
# Relative rounding of a margin, which is a difference of two scores, and of the position of a node.
MARGIN_ROUNDING = 4.0 * np.finfo(float).eps
# A loss so sharp that the rounding of margins takes more than this has no digit left.
MAX_ROUNDING = 0.1
# What a difference from one leaves of a small loss, relative to the loss at its centre.
LOSS_ROUNDING = 1e-14
# A product of a weight with a smaller number may lose digits.
UNDERFLOW = 1e-290
# The logarithm of an exponential tail is rounded by so much relative to its margin.
TAIL_ROUNDING = 1e-15

# Bins and nodes of the fast summation.

# Bins that are wider, in half-widths of the strip, need more nodes than they save bins.
MAX_BIN_WIDTH = 0.32
# A loss that is as smooth as it declares needs 15 nodes at the finest accuracy.
MAX_NODES = 40
# The number of bins to be checked about the centre, where a loss without tails is least smooth.
MAX_BINS_CHECKED = 256
# Without tails every bin is near every other, and scores may span no more bins than these.
MAX_BINS = 4096
# At k half-widths off the centre the tails of a loss of e^r have errors of e^(-pi k) times a small number,
# which for its second derivative in units of the strip is 2 pi^2. They may take a quarter of the accuracy.
TAIL_CONSTANT = 100.0
# Bins are numbered in a table up to this number, and up to four times the number of points.
MIN_TABLE_BINS = 1024

# Sums pair by pair.

# Up to this number of pairs of two classes it is fastest to compute the loss of each pair.
MAX_BLOCKED_PAIRS = 1 << 13
# A block of 4 MB of margins stays in the processor's cache.
BLOCK_PAIRS = 1 << 19
# Beyond these margins the tails of a sigmoid are exponentials to 13 digits.
STEEP_MARGINS = np.linspace(-30.0, 30.0, 601)
