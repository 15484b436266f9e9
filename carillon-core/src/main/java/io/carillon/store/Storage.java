package io.carillon.store;

import io.carillon.value.DatabaseClock;
import java.sql.Connection;
import java.util.Optional;

/** All ports of one storage. Closing it gives back what it holds for good; the data source stays the user's. */
public interface Storage extends AutoCloseable {
    RunStore runs();

    RunInbox inbox();

    LaneStore lanes();

    GateStore gates();

    NodeStore nodes();

    RunDesk runDesk();

    PlanStore plans();

    ScheduleDesk schedules();

    Housekeeping housekeeping();

    WakeChannel wake();

    ProjectStore projects();

    VitalsStore vitals();

    /** What this process knows of the database's time; it is read again with statements that run anyway. */
    DatabaseClock clock();

    /** Why this version may no longer work on these tables, because a newer one changed them; empty while it may. */
    Optional<String> outdated();

    /** The ports for what people do, inside the transaction that is open on this connection. */
    Desks in(Connection caller);

    @Override
    void close();
}
