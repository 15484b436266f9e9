package io.carillon.testkit;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.Schedules;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.json.JsonCodec;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.spi.PayloadCodec;
import io.carillon.testkit.internal.server.Sql;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * The main entry point of the test kit: the database, its clock, and access to the runs in it. {@code assertThat(kit)}
 * of AssertJ returns a {@link KitAssert}.
 */
public final class CarillonKit implements AssertProvider<KitAssert> {
    private static final String RUNS = """
            SELECT id, target_name, queue, CASE WHEN owner IS NULL THEN 'waiting' ELSE 'running' END AS state, key,
                   due_at, attempt, failures,
                   parked AS reason, payload, created_at
              FROM carillon.run WHERE target = 'handler' AND target_name = ANY (:names)
            UNION ALL
            SELECT h.id, h.target_name, h.queue, h.state, h.key, h.due_at, h.attempt, h.failures,
                   h.reason, coalesce(h.payload, d.payload), h.created_at
              FROM carillon.run_history h LEFT JOIN carillon.dead_run d ON d.project = h.project AND d.id = h.id
             WHERE h.target = 'handler' AND h.target_name = ANY (:names)
             ORDER BY created_at, id
            """;

    private static final int MAX_ROUNDS = 1_000;
    private static final Duration BUDGET = Duration.ofMinutes(1);

    private final TestDatabase database;
    private final TestClock clock;
    private final Sql sql;
    private final PlannedFailures failures = new PlannedFailures();
    private @Nullable PayloadCodec codec;
    private @Nullable Carillon driven;
    private IntSupplier dueOnce = () -> {
        throw notDriving("how to execute runs");
    };

    private CarillonKit(TestDatabase database) {
        this.database = database;
        this.clock = database.clock();
        this.sql = new Sql(database.dataSource());
    }

    /** Returns a kit for this database. */
    public static CarillonKit on(TestDatabase database) {
        return new CarillonKit(database);
    }

    /** Returns the database of this kit. */
    public TestDatabase database() {
        return database;
    }

    /** Returns the clock of the database. */
    public TestClock clock() {
        return clock;
    }

    /** Advances the clock. */
    public CarillonKit advance(Duration by) {
        clock.advance(by);
        return this;
    }

    /** Sets the codec of the application's payloads. Default: JSON. */
    public CarillonKit codec(PayloadCodec codec) {
        this.codec = codec;
        return this;
    }

    private PayloadCodec codec() {
        return codec == null ? new JsonCodec() : codec;
    }

    /**
     * Returns all runs of a handler in the order of creation, in every state, including those stored under older names.
     */
    public List<KitRun> runs(HandlerType<?> type) {
        List<String> names = Stream.concat(Stream.of(type.name()), type.olderReaders().keySet().stream())
                .toList();
        return sql.call(session -> session.query(RUNS).texts("names", names).list(CarillonKit::run));
    }

    /**
     * Returns the payload of a run as its handler receives it, also for a run stored under an older name. Empty if the
     * payload is not kept, as for most ended runs.
     */
    public <T> Optional<T> payload(HandlerType<T> type, KitRun run) {
        String text = run.payload();
        if (text == null) return Optional.empty();
        Function<String, T> older = type.olderReaders().get(run.handler());
        return Optional.of(
                older != null
                        ? older.apply(text)
                        : codec().decode(text.getBytes(StandardCharsets.UTF_8), type.payloadType()));
    }

    /** Returns the events in the database. */
    public KitEvents events() {
        return new KitEvents(sql, codec());
    }

    /** Returns assertions on the only run of a handler. Fails if there is no run or more than one. */
    public <T> RunsAssert<T> run(HandlerType<T> type) {
        return RunsAssert.of(this, type).times(1);
    }

    /**
     * Connects the kit to a Carillon instance, created with {@code build()} so that no thread runs in the background.
     * {@link #runDue()} then executes its handlers on the calling thread. Removes failures that were planned with
     * {@link #failNext} and did not occur.
     */
    public CarillonKit drive(Carillon carillon) {
        executeWith(() -> carillon.runDue(BUDGET, failures::throwNext).processed());
        failures.clear();
        driven = carillon;
        return this;
    }

    /**
     * Lets the next attempt of this handler fail with this exception, without calling the handler. The retry settings
     * of the handler apply.
     */
    public CarillonKit failNext(HandlerType<?> type, Exception failure) {
        return failNext(type, 1, failure);
    }

    /** Like {@link #failNext(HandlerType, Exception)}, for the given number of attempts, independent of their runs. */
    public CarillonKit failNext(HandlerType<?> type, int times, Exception failure) {
        driven();
        failures.add(type, times, failure);
        return this;
    }

    /**
     * Returns the planned instants of a schedule between two instants, both inclusive, and what happened to each.
     * Ledger ranges are expanded with the current timing of the schedule. Instants more than a few minutes after the
     * current time are not planned yet.
     */
    public List<KitTick> ticksBetween(String schedule, Instant from, Instant to) {
        Schedules schedules = driven().schedules();
        When when = schedules
                .get(schedule)
                .orElseThrow(() -> new AssertionError("There is no schedule '%s'. Existing schedules: %s"
                        .formatted(
                                schedule,
                                schedules.list().stream().map(Schedule::name).toList())))
                .definition()
                .when();
        return schedules.ledger(schedule, from, to).stream()
                .flatMap(entry -> instants(entry, when).map(at -> new KitTick(at, entry.state(), entry.reason())))
                .filter(tick ->
                        !tick.plannedAt().isBefore(from) && !tick.plannedAt().isAfter(to))
                .toList();
    }

    private static Stream<Instant> instants(LedgerEntry entry, When when) {
        return Stream.iterate(
                        Optional.of(entry.from()),
                        at -> at.isPresent() && !at.get().isAfter(entry.to()),
                        at -> at.flatMap(when::nextIncludingExcluded))
                .flatMap(Optional::stream);
    }

    private Carillon driven() {
        if (driven == null) throw notDriving("which Carillon to use");
        return driven;
    }

    private static CarillonException notDriving(String what) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The test kit does not know %s. Call CarillonKit.drive(carillon) first.".formatted(what));
    }

    /**
     * Sets how due runs are executed on the calling thread. The supplier executes the due runs once and returns how
     * many it executed.
     */
    public CarillonKit executeWith(IntSupplier dueOnce) {
        this.dueOnce = dueOnce;
        this.driven = null;
        return this;
    }

    /**
     * Executes the runs that are due, and the runs that become due by that, on the calling thread. Returns how many
     * runs were executed.
     */
    public int runDue() {
        int executed = 0;
        for (int round = 0; round < MAX_ROUNDS; round++) {
            int now = dueOnce.getAsInt();
            if (now == 0) return executed;
            executed += now;
        }
        throw new AssertionError(
                "After %d rounds and %d runs there are still due runs. Does a handler enqueue itself without a delay?"
                        .formatted(MAX_ROUNDS, executed));
    }

    @Override
    public KitAssert assertThat() {
        return new KitAssert(this);
    }

    private static KitRun run(Row row) throws SQLException {
        return new KitRun(
                new RunId(row.uuid("id")),
                row.text("target_name"),
                row.text("queue"),
                row.text("state"),
                row.maybeText("key"),
                row.instant("due_at"),
                row.integer("attempt"),
                row.integer("failures"),
                row.maybeText("reason"),
                text(row.maybeBytes("payload")));
    }

    private static @Nullable String text(byte @Nullable [] payload) {
        return payload == null ? null : new String(payload, StandardCharsets.UTF_8);
    }
}
