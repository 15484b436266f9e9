package io.carillon.internal.postgres;

import io.carillon.internal.jdbc.ConnectionSource;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.postgres.attempt.AttemptEndings;
import io.carillon.internal.postgres.attempt.CancelRequests;
import io.carillon.internal.postgres.event.EventDays;
import io.carillon.internal.postgres.event.EventDispatchRepository;
import io.carillon.internal.postgres.event.EventRepository;
import io.carillon.internal.postgres.event.RelayRepository;
import io.carillon.internal.postgres.event.SourceRepository;
import io.carillon.internal.postgres.limit.GateRepository;
import io.carillon.internal.postgres.limit.LaneLimits;
import io.carillon.internal.postgres.limit.LaneRepository;
import io.carillon.internal.postgres.limit.OverlapGates;
import io.carillon.internal.postgres.limit.RateGates;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.internal.postgres.node.LostLeaseRescuer;
import io.carillon.internal.postgres.node.NodeRepository;
import io.carillon.internal.postgres.partition.MaintenanceRepository;
import io.carillon.internal.postgres.partition.PartitionRemoval;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.run.NewRunRepository;
import io.carillon.internal.postgres.run.RunAdminRepository;
import io.carillon.internal.postgres.run.RunRepository;
import io.carillon.internal.postgres.run.RunWaitRepository;
import io.carillon.internal.postgres.run.WorkflowSignalRepository;
import io.carillon.internal.postgres.run.WorkflowStepRepository;
import io.carillon.internal.postgres.schedule.PlanRepository;
import io.carillon.internal.postgres.schedule.ScheduleMaintenance;
import io.carillon.internal.postgres.schedule.ScheduleRepository;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.postgres.stats.StatsRepository;
import io.carillon.internal.postgres.vitals.VitalsRepository;
import io.carillon.internal.postgres.wakeup.PostgresWakeChannel;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.AdminPorts;
import io.carillon.internal.store.MaintenanceStore;
import io.carillon.internal.store.ProjectStore;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.VitalsStore;
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
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** All ports on one PostgreSQL database: the assembly point of this package. */
public final class PostgresStorage implements Storage {
    private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration RESCUE_TIMEOUT = Duration.ofMinutes(2);

    private static final String ENSURE_PROJECT =
            "INSERT INTO carillon.project (project) VALUES (:project) ON CONFLICT DO NOTHING";

    private static final String FIND_NEWER_MIN_CODE = """
            SELECT number, name, min_code FROM carillon.migration WHERE min_code > :code ORDER BY number DESC LIMIT 1
            """;

    private final Database database;
    private final int code;
    private final TickPlanner planner;
    private final RunStore runs;
    private final NewRunStore newRuns;
    private final LaneStore lanes;
    private final GateStore gates;
    private final RunWaitStore runWaits;
    private final WorkflowStepStore workflowSteps;
    private final WorkflowSignalStore workflowSignals;
    private final NodeStore nodes;
    private final RunAdmin runAdmin;
    private final PlanStore plans;
    private final ScheduleAdmin schedules;
    private final EventDays eventDays;
    private final EventStore events;
    private final EventDispatchStore eventDispatch;
    private final RelayStore relays;
    private final SourceStore sources;
    private final MaintenanceStore maintenance;
    private final WakeChannel wakeChannel;
    private final ProjectStore projects;
    private final VitalsStore vitals;
    private final StatsStore stats;
    private volatile EndingCounter endingCounter = EndingCounter.NONE;
    private final EndedRows endedRows =
            new EndedRows((series, what, number) -> endingCounter.count(series, what, number));
    private final ConnectionSource.DedicatedConnection heartbeatConnection;

    public PostgresStorage(DataSource source, TickPlanner planner) {
        this(source, source, true, planner);
    }

    /**
     * {@code listenSource} provides the connection for LISTEN; {@code prepares} says whether statements may be prepared
     * on the server.
     */
    public PostgresStorage(DataSource source, DataSource listenSource, boolean prepares, TickPlanner planner) {
        ConnectionSource pool = ConnectionSource.pool(source);
        this.planner = planner;
        this.code = new Migrator(source).newestNumber();
        this.database = new Database(pool, STATEMENT_TIMEOUT, prepares);
        Partitions partitions = new Partitions(database);
        CancelRequests cancels = new CancelRequests(database, partitions, endedRows);
        AttemptEndings attemptEndings = new AttemptEndings(database, partitions, cancels, endedRows);
        runs = new RunRepository(database, attemptEndings, cancels);
        newRuns = new NewRunRepository(database);
        lanes = new LaneRepository(database, new LaneLimits(database));
        gates = new GateRepository(
                database, new OverlapGates(database, partitions, cancels, endedRows), new RateGates());
        runWaits = new RunWaitRepository(database, partitions, endedRows);
        workflowSteps = new WorkflowStepRepository(database);
        workflowSignals = new WorkflowSignalRepository(database);
        heartbeatConnection = ConnectionSource.dedicated(source);
        LostLeaseRescuer lostLeaseRescuer = new LostLeaseRescuer(
                database, database.with(pool, RESCUE_TIMEOUT), partitions, cancels, attemptEndings, endedRows);
        nodes = new NodeRepository(
                database, database.with(heartbeatConnection, STATEMENT_TIMEOUT), lostLeaseRescuer, code);
        runAdmin = new RunAdminRepository(database, partitions, attemptEndings, endedRows);
        ScheduleRepository scheduleRepository = new ScheduleRepository(database, partitions, planner, endedRows);
        schedules = scheduleRepository;
        plans = new PlanRepository(
                database, partitions, new ScheduleMaintenance(database, scheduleRepository), endedRows);
        stats = new StatsRepository(database);
        maintenance = new MaintenanceRepository(database, partitions, new PartitionRemoval(database), stats);
        eventDays = new EventDays(partitions);
        events = new EventRepository(database, database, partitions, eventDays);
        eventDispatch = new EventDispatchRepository(database);
        relays = new RelayRepository(database);
        sources = new SourceRepository(database, partitions, eventDays);
        wakeChannel = new PostgresWakeChannel(database, ConnectionSource.pool(listenSource));
        projects = project -> database.single(session ->
                session.query(ENSURE_PROJECT).text("project", project).update());
        vitals = new VitalsRepository(database);
    }

    @Override
    public RunStore runs() {
        return runs;
    }

    @Override
    public NewRunStore newRuns() {
        return newRuns;
    }

    @Override
    public LaneStore lanes() {
        return lanes;
    }

    @Override
    public GateStore gates() {
        return gates;
    }

    @Override
    public RunWaitStore runWaits() {
        return runWaits;
    }

    @Override
    public WorkflowStepStore workflowSteps() {
        return workflowSteps;
    }

    @Override
    public WorkflowSignalStore workflowSignals() {
        return workflowSignals;
    }

    @Override
    public NodeStore nodes() {
        return nodes;
    }

    @Override
    public RunAdmin runAdmin() {
        return runAdmin;
    }

    @Override
    public PlanStore plans() {
        return plans;
    }

    @Override
    public ScheduleAdmin schedules() {
        return schedules;
    }

    @Override
    public EventStore events() {
        return events;
    }

    @Override
    public EventDispatchStore eventDispatch() {
        return eventDispatch;
    }

    @Override
    public RelayStore relays() {
        return relays;
    }

    @Override
    public SourceStore sources() {
        return sources;
    }

    @Override
    public MaintenanceStore maintenance() {
        return maintenance;
    }

    @Override
    public WakeChannel wake() {
        return wakeChannel;
    }

    @Override
    public ProjectStore projects() {
        return projects;
    }

    @Override
    public VitalsStore vitals() {
        return vitals;
    }

    @Override
    public StatsStore stats() {
        return stats;
    }

    @Override
    public void countEndings(EndingCounter counter) {
        endingCounter = counter;
    }

    @Override
    public Optional<String> outdated() {
        return database.single(session -> session.query(FIND_NEWER_MIN_CODE)
                .number("code", code)
                .first(row -> "migration %04d_%s needs a release with schema version %d or later; this release has %d"
                        .formatted(row.number("number"), row.text("name"), row.number("min_code"), code)));
    }

    @Override
    public DatabaseClock clock() {
        return database.clock();
    }

    /**
     * Partitions are created outside the caller's transaction: they concern all nodes, and the caller may
     * lack the permission.
     */
    @Override
    public AdminPorts inTransaction(Connection caller, Consumer<Runnable> afterCommit) {
        Database within = database.within(caller, afterCommit);
        Partitions partitions = new Partitions(database, within);
        return new AdminPorts(
                new RunAdminRepository(
                        within,
                        partitions,
                        new AttemptEndings(
                                within, partitions, new CancelRequests(within, partitions, endedRows), endedRows),
                        endedRows),
                new ScheduleRepository(within, partitions, planner, endedRows),
                new LaneRepository(within, new LaneLimits(within)),
                new PostgresWakeChannel(within, ConnectionSource.none()),
                new StatsRepository(within),
                new EventRepository(within, database, partitions, eventDays),
                new RelayRepository(within),
                new SourceRepository(within, partitions, eventDays),
                new WorkflowSignalRepository(within));
    }

    @Override
    public <T> T transaction(TransactionWork<T> work) {
        return database.transaction(session -> work.run(session.connection(), session::afterCommit));
    }

    @Override
    public void close() {
        try {
            heartbeatConnection.close();
        } catch (SQLException alreadyGone) {
            // A broken connection has nothing to return.
        }
    }
}
