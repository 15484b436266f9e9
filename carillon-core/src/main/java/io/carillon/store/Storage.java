package io.carillon.store;

import java.sql.Connection;

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

    /** The ports for what people do, inside the transaction that is open on this connection. */
    Desks in(Connection caller);

    @Override
    void close();
}
