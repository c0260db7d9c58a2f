"""An example of every output law, for tests of draws, of problem files and of the compiled engine."""

import math

from crewlearn.problem.laws import BernoulliOutput, BetaOutput, OutputLaw, TruncatedNormalOutput, UniformOutput

OUTPUT_EXAMPLES: dict[OutputLaw, float] = {
    UniformOutput(0.1): 0.1 / math.sqrt(3.0),
    BernoulliOutput(): 0.5,
    TruncatedNormalOutput(0.05): 0.05,
    BetaOutput(5.0): math.sqrt(0.25 / 6.0),
}
"""The standard deviation of each example for a worker with mean 0.5."""
