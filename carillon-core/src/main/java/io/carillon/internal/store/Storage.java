package io.carillon.internal.store;

import io.carillon.internal.store.node.NodeStore;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.store.run.GateStore;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.NewRunStore;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.internal.store.schedule.ScheduleAdmin;
import io.carillon.internal.value.DatabaseClock;
import java.sql.Connection;
import java.util.Optional;

/**
 * All ports of one storage. Closing it releases its permanent connections; the data source still belongs to the user.
 */
public interface Storage extends AutoCloseable {
    RunStore runs();

    NewRunStore newRuns();

    LaneStore lanes();

    GateStore gates();

    NodeStore nodes();

    RunAdmin runAdmin();

    PlanStore plans();

    ScheduleAdmin schedules();

    MaintenanceStore maintenance();

    WakeChannel wake();

    ProjectStore projects();

    VitalsStore vitals();

    /** Returns this process's estimate of the database clock. Statements that run anyway update it. */
    DatabaseClock clock();

    /** Returns why this version may no longer use the schema after a newer version changed it; empty while it may. */
    Optional<String> outdated();

    /** Returns the ports for actions of users and operators, bound to the open transaction of this connection. */
    AdminPorts inTransaction(Connection caller);

    @Override
    void close();
}
