package io.carillon.internal.store;

import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.internal.store.node.NodeStore;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.store.run.GateStore;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.NewRunStore;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.internal.store.schedule.ScheduleAdmin;
import io.carillon.internal.store.stats.EndingCounter;
import io.carillon.internal.store.stats.StatsStore;
import io.carillon.internal.value.DatabaseClock;
import java.sql.Connection;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * All ports of one storage. Closing it releases its permanent connections; the data source still belongs to the user.
 */
public interface Storage extends AutoCloseable {
    RunStore runs();

    NewRunStore newRuns();

    LaneStore lanes();

    GateStore gates();

    RunWaitStore runWaits();

    WorkflowStepStore workflowSteps();

    WorkflowSignalStore workflowSignals();

    NodeStore nodes();

    RunAdmin runAdmin();

    PlanStore plans();

    ScheduleAdmin schedules();

    EventStore events();

    EventDispatchStore eventDispatch();

    RelayStore relays();

    SourceStore sources();

    MaintenanceStore maintenance();

    WakeChannel wake();

    ProjectStore projects();

    VitalsStore vitals();

    StatsStore stats();

    /** Sets the counter of what statements end, apart from the ends of attempts, which the engine counts. */
    void countEndings(EndingCounter counter);

    /** Returns this process's estimate of the database clock. Statements that run anyway update it. */
    DatabaseClock clock();

    /** Returns why this version may no longer use the schema after a newer version changed it; empty while it may. */
    Optional<String> outdated();

    /**
     * Returns the ports for actions of users and operators, bound to the open transaction of this connection.
     *
     * @param afterCommit receives what the caller runs after the commit, such as the counting of what these ports end
     */
    AdminPorts inTransaction(Connection caller, Consumer<Runnable> afterCommit);

    /** Runs work in a new transaction, which is repeated if it failed for a reason that may pass. */
    <T> T transaction(TransactionWork<T> work);

    /** Work in a transaction; {@code afterCommit} receives what runs after its commit. */
    @FunctionalInterface
    interface TransactionWork<T> {
        T run(Connection connection, Consumer<Runnable> afterCommit);
    }

    @Override
    void close();
}
