package io.carillon.internal.run;

/** One queue of one project: the unit of fairness, limits, breaker and pause. */
public record Lane(String queue, String project) {}
