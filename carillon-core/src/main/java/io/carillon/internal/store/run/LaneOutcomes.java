package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;

/**
 * The numbers of recent attempts of a lane that succeeded and failed on one node.
 *
 * @param afterOpening whether they all ended after the node had seen that the breaker is not closed; only then do they
 *     decide about a probe
 */
public record LaneOutcomes(Lane lane, int succeeded, int failed, boolean afterOpening) {}
