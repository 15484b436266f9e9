package io.carillon.internal.store;

/**
 * Reads the state of the system. The cost depends on due runs and recent failures, never on the number of stored runs.
 */
public interface VitalsStore {
    /** Reads the values for health checks. */
    DatabaseVitals read();

    /** Reads the values for dashboards and metrics. */
    DatabaseVitals.Figures figures();
}
