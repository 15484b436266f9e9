package io.carillon;

/**
 * The result of {@link Carillon#runDue(java.time.Duration)}.
 *
 * @param processed how many attempts were executed
 * @param errors how many of these attempts failed
 */
public record RunDueResult(int processed, int errors) {}
