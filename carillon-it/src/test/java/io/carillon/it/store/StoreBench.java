package io.carillon.it.store;

import io.carillon.store.Storage;
import io.carillon.testkit.TestClock;
import java.sql.Connection;
import java.time.Instant;

/** A storage under test: two doors to the same data, its clock, and a look at everything that is stored. */
interface StoreBench {
    /** Where the clock stands when a test begins. */
    Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    Storage storage();

    /** Another door to the same data, such as another process has. */
    Storage another();

    TestClock clock();

    /** A connection for transactions of callers; the test closes it. */
    Connection open();

    /** Everything that is stored with the versions of its rows: equal prints mean that nothing was written between them. */
    String print();

    /** No runs, no schedules, no nodes; the clock stands at {@link #NOON}. */
    void clear();
}
