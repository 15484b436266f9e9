package io.carillon.store;

import io.carillon.run.Lane;

/** How many attempts of a lane went well lately on one node, and how many failed. */
public record LaneLoad(Lane lane, int well, int failed) {}
