package io.carillon.run;

/** One (queue, project) pair: the unit of fairness, limits, breaker and pause. */
public record Lane(String queue, String project) {}
