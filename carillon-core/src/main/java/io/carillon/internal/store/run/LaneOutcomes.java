package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;

/** The numbers of recent attempts of a lane that succeeded and failed on one node. */
public record LaneOutcomes(Lane lane, int succeeded, int failed) {}
