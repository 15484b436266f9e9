package io.carillon.it.store;

import io.carillon.store.Storage;
import io.carillon.testkit.TestClock;
import java.sql.Connection;
import java.time.Instant;

/** A storage under test: two storages on the same data, the clock, and a dump of all rows. */
interface StoreFixture {
    /** The time of the clock when a test begins. */
    Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    Storage storage();

    /** Returns another storage on the same data, as another process has it. */
    Storage secondStorage();

    TestClock clock();

    /** Opens a connection for a caller's transaction; the test closes it. */
    Connection open();

    /** Returns all stored rows with their row versions. Equal dumps mean that no statement wrote between them. */
    String dump();

    /** Deletes all runs, schedules and nodes, and sets the clock to {@link #NOON}. */
    void clear();
}
