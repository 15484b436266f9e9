package io.carillon.postgres;

import io.carillon.postgres.migration.Migrator;
import io.carillon.postgres.vitals.VitalsRepository;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Desks;
import io.carillon.store.GateStore;
import io.carillon.store.Housekeeping;
import io.carillon.store.LaneStore;
import io.carillon.store.NodeStore;
import io.carillon.store.PlanStore;
import io.carillon.store.ProjectStore;
import io.carillon.store.RunDesk;
import io.carillon.store.RunInbox;
import io.carillon.store.RunStore;
import io.carillon.store.ScheduleDesk;
import io.carillon.store.Storage;
import io.carillon.store.VitalsStore;
import io.carillon.store.WakeChannel;
import io.carillon.value.DatabaseClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

/** All ports on one PostgreSQL: the assembly point of this room. */
public final class PostgresStorage implements Storage {
    private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration SCAN_TIMEOUT = Duration.ofMinutes(2);

    private static final String ENSURE_PROJECT =
            "INSERT INTO carillon.project (project) VALUES (:project) ON CONFLICT DO NOTHING";

    private static final String NEEDS_NEWER = """
            SELECT number, name, min_code FROM carillon.migration WHERE min_code > :code ORDER BY number DESC LIMIT 1
            """;

    private final Database database;
    private final int code;
    private final TickPlanner planner;
    private final RunStore runs;
    private final RunInbox inbox;
    private final LaneStore lanes;
    private final GateStore gates;
    private final NodeStore nodes;
    private final RunDesk runDesk;
    private final PlanStore plans;
    private final ScheduleDesk schedules;
    private final Housekeeping housekeeping;
    private final WakeChannel wake;
    private final ProjectStore projects;
    private final VitalsStore vitals;
    private final ConnectionSource.Kept heartbeat;

    public PostgresStorage(DataSource source, TickPlanner planner) {
        this(source, source, true, planner);
    }

    /** {@code ears}: where LISTEN gets its connection from; {@code prepares}: whether statements may be prepared on the server. */
    public PostgresStorage(DataSource source, DataSource ears, boolean prepares, TickPlanner planner) {
        ConnectionSource pool = ConnectionSource.pool(source);
        this.planner = planner;
        this.code = new Migrator(source).code();
        this.database = new Database(pool, STATEMENT_TIMEOUT, prepares);
        Partitions partitions = new Partitions(database);
        CancelOrders cancels = new CancelOrders(database, partitions);
        Endings endings = new Endings(database, partitions, cancels);
        runs = new RunRepository(database, endings, cancels);
        inbox = new InboxRepository(database);
        lanes = new LaneRepository(database, new LaneGates(database));
        gates = new GateRepository(database, new OverlapGates(database, partitions, cancels), new RateGates());
        heartbeat = ConnectionSource.kept(source);
        Sweeper sweeper = new Sweeper(database, database.with(pool, SCAN_TIMEOUT), partitions, cancels, endings);
        nodes = new NodeRepository(database, database.with(heartbeat, STATEMENT_TIMEOUT), sweeper, code);
        runDesk = new DeskRepository(database, partitions, endings);
        ScheduleRepository desk = new ScheduleRepository(database, partitions, planner);
        schedules = desk;
        plans = new PlanRepository(database, partitions, new ScheduleKeeper(database, desk));
        housekeeping = new HousekeepingRepository(database, partitions, new PartitionRemoval(database));
        wake = new WakeRepository(database, ConnectionSource.pool(ears));
        projects = project -> database.single(session ->
                session.query(ENSURE_PROJECT).text("project", project).update());
        vitals = new VitalsRepository(source);
    }

    @Override
    public RunStore runs() {
        return runs;
    }

    @Override
    public RunInbox inbox() {
        return inbox;
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
    public NodeStore nodes() {
        return nodes;
    }

    @Override
    public RunDesk runDesk() {
        return runDesk;
    }

    @Override
    public PlanStore plans() {
        return plans;
    }

    @Override
    public ScheduleDesk schedules() {
        return schedules;
    }

    @Override
    public Housekeeping housekeeping() {
        return housekeeping;
    }

    @Override
    public WakeChannel wake() {
        return wake;
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
    public Optional<String> outdated() {
        return database.single(session -> session.query(NEEDS_NEWER)
                .number("code", code)
                .first(row -> "migration %04d_%s needs code %d or later, this is %d"
                        .formatted(row.number("number"), row.text("name"), row.number("min_code"), code)));
    }

    @Override
    public DatabaseClock clock() {
        return database.clock();
    }

    /** Partitions are made outside: they concern everybody, and the caller may not be allowed to. */
    @Override
    public Desks in(Connection caller) {
        Database within = database.within(caller);
        Partitions partitions = new Partitions(database, within);
        return new Desks(
                inbox,
                new DeskRepository(
                        within, partitions, new Endings(within, partitions, new CancelOrders(within, partitions))),
                new ScheduleRepository(within, partitions, planner),
                new LaneRepository(within, new LaneGates(within)),
                new WakeRepository(within, ConnectionSource.none()));
    }

    @Override
    public void close() {
        try {
            heartbeat.close();
        } catch (SQLException alreadyGone) {
            // A broken connection holds nothing.
        }
    }
}
