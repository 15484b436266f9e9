package io.carillon.testkit;

import io.carillon.Carillon;
import io.carillon.Schedules;
import io.carillon.json.JsonCodec;
import io.carillon.run.HandlerType;
import io.carillon.run.PayloadCodec;
import io.carillon.run.RunId;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * What a user's test holds in hand: the database, its clock, and questions about the runs in it. AssertJ's own {@code assertThat(kit)} leads to
 * {@link KitAssert}.
 */
public final class CarillonKit implements AssertProvider<KitAssert> {
    private static final String RUNS = """
            SELECT id, target_name, queue, CASE WHEN owner IS NULL THEN 'waiting' ELSE 'running' END AS state, key, due_at, attempt, failures,
                   parked AS reason, payload, created_at
              FROM carillon.run WHERE target = 'handler' AND target_name = ANY (?)
            UNION ALL
            SELECT h.id, h.target_name, h.queue, h.state, h.key, h.due_at, h.attempt, h.failures,
                   h.reason, coalesce(h.payload, d.payload), h.created_at
              FROM carillon.run_history h LEFT JOIN carillon.dead_run d ON d.project = h.project AND d.id = h.id
             WHERE h.target = 'handler' AND h.target_name = ANY (?)
             ORDER BY created_at, id
            """;

    private static final int MOST_ROUNDS = 1_000;
    private static final Duration BUDGET = Duration.ofMinutes(1);

    private final TestDatabase database;
    private final TestClock clock;
    private final Sql sql;
    private final NextFailures failures = new NextFailures();
    private PayloadCodec codec = new JsonCodec();
    private @Nullable Carillon driven;
    private IntSupplier dueOnce = () -> {
        throw notDriving("what executes runs");
    };

    private CarillonKit(TestDatabase database) {
        this.database = database;
        this.clock = database.clock();
        this.sql = new Sql(database.dataSource());
    }

    /** A kit for this database. */
    public static CarillonKit on(TestDatabase database) {
        return new CarillonKit(database);
    }

    public TestDatabase database() {
        return database;
    }

    public TestClock clock() {
        return clock;
    }

    /** Moves the clock on. */
    public CarillonKit advance(Duration by) {
        clock.advance(by);
        return this;
    }

    /** How payloads are read; JSON unless set. For applications that write theirs in another way. */
    public CarillonKit codec(PayloadCodec codec) {
        this.codec = codec;
        return this;
    }

    /** All runs of a handler in the order they were created, whatever became of them; also those stored under its older names. */
    public List<KitRun> runs(HandlerType<?> type) {
        String[] names = Stream.concat(Stream.of(type.name()), type.older().keySet().stream())
                .toArray(String[]::new);
        return sql.list(RUNS, CarillonKit::run, names, names);
    }

    /** The payload of a run as its handler would get it, also of one stored under an older name; empty where none is kept, as for most that ended. */
    public <T> Optional<T> payload(HandlerType<T> type, KitRun run) {
        String text = run.payload();
        if (text == null) return Optional.empty();
        Function<String, T> older = type.older().get(run.handler());
        return Optional.of(
                older != null ? older.apply(text) : codec.decode(text.getBytes(StandardCharsets.UTF_8), type.type()));
    }

    /** The one run of a handler; fails when there is none or more than one. */
    public <T> RunsAssert<T> run(HandlerType<T> type) {
        return RunsAssert.of(this, type).times(1);
    }

    /**
     * Drives this Carillon (made by {@code build()}, so that nothing runs in the background): {@link #runDue()} executes its handlers in the calling thread.
     * Forgets failures that were asked for and did not happen.
     */
    public CarillonKit driving(Carillon carillon) {
        executing(() -> carillon.tick(BUDGET, failures::strike).processed());
        failures.clear();
        driven = carillon;
        return this;
    }

    /** The next attempt of this handler fails with this, and the handler is not called: what follows is decided by its own retry rule. */
    public CarillonKit failNext(HandlerType<?> type, Exception failure) {
        return failNext(type, 1, failure);
    }

    /** The same for so many attempts, whichever runs they belong to. */
    public CarillonKit failNext(HandlerType<?> type, int times, Exception failure) {
        driven();
        failures.add(type, times, failure);
        return this;
    }

    /**
     * Which instants a schedule planned between two instants, both inclusive, and what became of each; stretches without runs are taken apart by the
     * schedule as it is now. Instants more than a few minutes ahead of the clock are not planned yet.
     */
    public List<KitTick> ticksBetween(String schedule, Instant from, Instant to) {
        Schedules schedules = driven().schedules();
        When when = schedules
                .get(schedule)
                .orElseThrow(() -> new AssertionError("there is no schedule '%s', only: %s"
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
                        at -> at.flatMap(when::nextAny))
                .flatMap(Optional::stream);
    }

    private Carillon driven() {
        if (driven == null) throw notDriving("your Carillon");
        return driven;
    }

    private static CarillonException notDriving(String what) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The kit does not know %s. Tell it by CarillonKit.driving(carillon).".formatted(what));
    }

    /** Says how due runs are executed once in the calling thread; it answers how many were. */
    public CarillonKit executing(IntSupplier dueOnce) {
        this.dueOnce = dueOnce;
        this.driven = null;
        return this;
    }

    /** Executes what is due on the clock, and what became due by that, in this thread; returns how many runs were executed. */
    public int runDue() {
        int executed = 0;
        for (int round = 0; round < MOST_ROUNDS; round++) {
            int now = dueOnce.getAsInt();
            if (now == 0) return executed;
            executed += now;
        }
        throw new AssertionError(
                "after %d rounds and %d runs there is still something due: does a handler enqueue itself without delay?"
                        .formatted(MOST_ROUNDS, executed));
    }

    @Override
    public KitAssert assertThat() {
        return new KitAssert(this);
    }

    private static KitRun run(ResultSet row) throws SQLException {
        return new KitRun(
                new RunId(row.getObject("id", UUID.class)),
                row.getString("target_name"),
                row.getString("queue"),
                row.getString("state"),
                row.getString("key"),
                row.getObject("due_at", OffsetDateTime.class).toInstant(),
                row.getInt("attempt"),
                row.getInt("failures"),
                row.getString("reason"),
                text(row.getBytes("payload")));
    }

    private static @Nullable String text(byte @Nullable [] payload) {
        return payload == null ? null : new String(payload, StandardCharsets.UTF_8);
    }
}
