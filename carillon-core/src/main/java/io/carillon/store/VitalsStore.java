package io.carillon.store;

/** Reads how things stand. Costs what is due and what went wrong lately, never what exists. */
public interface VitalsStore {
    /** For health checks. */
    Vitals read();

    /** For dashboards and meters. */
    Vitals.Figures figures();
}
