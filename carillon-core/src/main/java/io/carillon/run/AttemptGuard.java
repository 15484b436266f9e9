package io.carillon.run;

/** Asked right before a handler is called; what it throws counts as the failure of that attempt, by the handler's own retry rule. */
@FunctionalInterface
public interface AttemptGuard {
    void check(Attempt attempt) throws Exception;
}
