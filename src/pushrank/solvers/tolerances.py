"""The numerical constants of the gradient, Newton and smoothing solvers, each with its reason."""

import numpy as np

MACHINE_ROUNDING = np.finfo(float).eps
# It keeps a divisor that underflowed from being zero.
TINY = np.finfo(float).tiny
MAX_FLOAT = np.finfo(float).max
# The objective is a sum over many rows: a relative descent below this cannot be told from rounding.
VALUE_ROUNDING = 1e-12

# Line searches

# A slope that fell to this part of the first, or a bracket of this relative length, is at the minimum.
ZERO_SLOPE = 1e-12
# Bisection alone narrows a bracket to rounding within this number of trials.
MAX_TRIALS = 100
# Armijo's rule asks for this part of the descent that the slope promises; the value is the customary one.
SUFFICIENT_DESCENT = 1e-4
# A direction that has to be cut to a millionth was not one of descent.
MAX_HALVINGS = 20

# Gradient methods

# The weights of the rows settle in the first iterations, after which a new preconditioner pays.
FIRST_RUN = 30
# The weights have settled by then, and with a preconditioner made near the minimum few iterations are left.
LATER_RUNS = 20
# Where the preconditioner is diagonal, the method needs iterations to learn all directions.
LATER_RUNS_WIDE = 100
# Up to this number of rows per column the whole curvature is worth its time from the start, and the dual has
# few variables.
MAX_ROWS_A_COLUMN = 4
# Above this number of rows per column the dual's products cost more than the iterations that it saves.
MAX_ROWS_A_COLUMN_DUAL = 64
# With a relative gap above this on separable rows, scores have yet to grow far.
FAR_GAP = 1.0
# Runs without descent, each with a new preconditioner, after which only rounding is left.
MAX_STALLED_RESTARTS = 3
# Below this n_rows * n_features ** 2 whitening takes milliseconds, as does the refinement of the gradient.
CHEAP_WORK = 1 << 26
# There the gradient is brought down to this part of the tolerance, or as far as the objective shows descent.
REFINEMENT = 1e-5
# Trials within the tolerance after which a line search sees nothing but rounding.
MAX_STALLED_TRIALS = 5
# The logarithm of nearly the smallest float: only separable data without a penalty get there.
MIN_LOG_OBJECTIVE = -700.0
# A proof is asked for again where the gradient has fallen to this part of one that did not suffice.
TIGHTER = 0.1

# Preconditioners

# A matrix of this size is factored in hundredths of a second.
MAX_WHITENED_FEATURES = 1024
# The eigenvectors of a matrix of this size, which help where columns differ by many decades, are found in
# milliseconds.
MAX_EIGEN_FEATURES = 128
# Curvature added, relative to what there is along a column: copies of a column leave none along a direction.
RIDGE = 1e-11
# Every row that is added to a mean changes it by a rounding of this relative size.
MEAN_ROUNDING = 1e-15

# Newton's method on dense Hessians

# A Cholesky factor that cuts the gradient to this part is used again: that costs a fifth of a new factor.
REUSE_FACTOR = 0.2
# Where the sample changes with every step most of the gradient comes from that, and a factor is used longer.
REUSE_RESAMPLED = 0.5
# Rows below this part of the mean weight of their class hardly bend it.
LIGHT_ROW = 0.01
# A start that needs more steps was not near the minimum, and L-BFGS is faster from there.
NEWTON_STEPS = 25
# A step that a line search has cut this short says that the minimum is far: a path gets there sooner.
SHORT_STEP = 1 / 32
# The factor between penalties on the way to a far minimum, and one over that between powers.
PENALTY_STEP = 0.5
# A minimum on that way is only a start for the next one.
PENALTY_TOL = 0.1
# The last Newton step squares the error: this part of the tolerance costs next to nothing.
NEWTON_REFINEMENT = 1e-2
# A rough solution only has to rank rows: with Hessians of some rows a step squares no error, and costs more.
ROUGH_REFINEMENT = 0.1
# Hessians of this number of rows a column and class still cut the gradient to a tenth or so in a step.
CURVING_ROWS_A_COLUMN = 100

# Newton's method in the dual

# The factor between penalties on the way: weights then change so little that one step follows them.
ALPHA_STEP = 0.2
# Hard problems take a third of these steps.
MAX_DUAL_STEPS = 60
# Products in one step; a hundred do, except where alpha is very small.
MAX_DUAL_PRODUCTS = 2000
# The system of this number of rows takes 128 MB, and is factored in two seconds.
MAX_FACTORED_ROWS = 4096
# A factor makes this number of multiplications in the time that a product takes for an entry of the data.
FACTOR_SPEED = 30
# With this part of the rows whose products are known the products of the others do no harm.
MIN_KNOWN_PART = 0.9
# Rows whose curvatures add up to at most this, next to one and more for each other row, are left out of a
# system.
LIGHT_CURVATURE = 0.1
# A copy of the rows that are in the system has to be worth its time and memory.
MAX_HEAVY_PART = 0.25
# A weight may rise to this multiple of the mean weight in one step, however little it was before.
SUDDEN_WEIGHT = 0.1
# The least weight that is kept: it has a logarithm, and changes no sum.
MIN_WEIGHT = 1e-250
# A step of this size in the logarithm takes the smallest weight to the largest.
MAX_EXPONENT = 500.0

# Newton's method by conjugate gradients

# A system is solved to this part of the gradient's norm at first, and to more digits later.
FORCING = 0.1
# Products with the kernel matrix in one Newton step.
MAX_KERNEL_PRODUCTS = 1000
# The last steps of a certified fit are to win all digits there are, relative to the gradient's norm.
EXACT = 1e-12
# Products in one of these last steps.
MAX_HESSIAN_PRODUCTS = 200
# The gradient of a mean risk, in units of the columns, at which the gap is first worth its computing.
SMALL_GRADIENT = 1e-3

# Certificates without a penalty

# A Newton step that leaves so small a part of the gradient has repaired the dual point.
REPAIRED = 1e-8
# The rounding of a gradient, in units of the columns' standard deviations.
GRADIENT_ROUNDING = 1e-13

# Smoothing

# The first width of the rounded kinks, and the first temperature in units of the objective.
FIRST_WIDTH = 0.25
# The next width as a part of the last: each stage then starts near its end.
NARROWING = 0.1
# Rounding of the sums hides what a narrower kink would change.
MIN_WIDTH = 1e-10
# A stage is first asked for a proof where its gradient has fallen to this multiple of the width.
FIRST_STEEPNESS = 0.1
# The most proofs that are attempted in a stage, each at a tenth of the gradient of the one before.
MAX_PROOFS = 5
# Of more rows than these some are worth a fit of their own, from which that to all rows starts.
MANY_ROWS = 50_000
# About this number of rows are spread over all.
SPREAD_ROWS = 20_000
# With fewer of them a column they tell too little of how all rows curve.
MIN_SPREAD_ROWS_A_COLUMN = 64
# With this number of them the curvature has errors of a twentieth, and further ones save few iterations.
SPREAD_ROWS_A_COLUMN = 400
# A copy of more rows would take more memory than all the rest of a fit.
MAX_SPREAD_PART = 0.07

# Trimming

# The part of the positives kept at each stage: larger jumps end in worse minima, shorter ones in no better.
TRIMMING_STEP = 0.75
# On the way only the order of the positives is asked for.
TRIMMING_TOL = 1e-3
# On the way further turns hardly change which positives the next stage keeps.
MAX_TRIMMING_TURNS = 4
# On wide data this number of L-BFGS iterations takes the place of a Newton step.
TRIMMING_LBFGS_STEPS = 30
# A turn starts near its end: this limit is for ill-conditioned data.
MAX_SOLVER_ITERATIONS = 1000

# Cutting planes

# The next plane touches the risk beyond the best point, by this part of the way to the planes' minimiser.
STEP_BEYOND = 0.1
# A new plane is worth more than a finer search, relative to the way from the best point to the minimiser.
MIN_BRACKET = 1e-2
# The small quadratic program is solved to this part of the gap to reach.
BOUND_TOLERANCE = 0.01
# Added to the matrix of the planes' products relative to the largest of them, since planes may be equal.
PLANES_RIDGE = 1e-13
# Squared normals below this part of the largest offset would underflow, and curve nothing.
MIN_UNIT = 1e-100
# A handful of changes of the active set follow a plane.
MAX_ACTIVE_SET_CHANGES = 200
# Up to this number of features the program in coefficients and planes costs next to nothing.
MAX_FEATURES_EXACT = 100

# The concave-convex procedure for the ramp

# A convex problem that needs more planes than these has a C so large that the norm hardly counts.
MAX_PLANES = 1000
# The k highest rows are likely to stay among this multiple of k while the scores change.
REACH = 2.0
# A larger part of the rows is not worth a copy.
MAX_PART_COPIED = 0.5
# The problem of some rows is solved to this part of the tolerance, which leaves room for the other rows.
PART_TOLERANCE = 0.5
