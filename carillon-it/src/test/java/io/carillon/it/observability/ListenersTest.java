package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.carillon.Carillon;
import io.carillon.PauseOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.CallbackToken;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.RunId;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/** Events that listeners receive and lines of the lifecycle log; neither delays a run. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class ListenersTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final Report EU = new Report("eu");
    private static final When HOURLY = When.cron("0 * * * *", "UTC");

    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final TestClock clock;
    private final ApiFixture fixture;

    ListenersTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @BeforeEach
    void captureLog() {
        lines.start();
        lifecycleLog().setLevel(Level.INFO);
        lifecycleLog().addAppender(lines);
    }

    @AfterEach
    void close() {
        fixture.close();
        lifecycleLog().detachAppender(lines);
        lifecycleLog().setLevel(null);
        clock.stopAt(Instant.parse("2026-05-04T12:00:00Z"));
    }

    private static Logger lifecycleLog() {
        return (Logger) LoggerFactory.getLogger("io.carillon.internal.engine.listener.LifecycleLog");
    }

    /** A client without a node calls its listeners on the thread that made the change. */
    private Carillon client() {
        return fixture.client(builder -> builder.scheduleListener(event -> events.add(text(event)))
                .listener(event -> events.add(text(event)))
                .handleReturning(
                        REPORT, (report, run) -> report.region().equals("eu") ? "done" : Outcome.rejected("no")));
    }

    private static String text(ScheduleEvent event) {
        String what = event.getClass().getSimpleName() + " " + event.schedule();
        if (event instanceof ScheduleEvent.Missed missed) return what + text(missed.instants());
        if (event instanceof ScheduleEvent.Skipped skipped) return what + text(skipped.instants());
        if (event instanceof ScheduleEvent.Paused paused) return what + " by " + paused.by() + ": " + paused.reason();
        return what;
    }

    private static String text(ScheduleEvent.AffectedInstants all) {
        return " %s-%s %d %s"
                .formatted(
                        all.from().toString().substring(11, 16),
                        all.to().toString().substring(11, 16),
                        all.count(),
                        all.reason());
    }

    private static String text(RunEvent event) {
        if (event instanceof RunEvent.AttemptStarted started)
            return "started " + started.run().attempt();
        String what = event.getClass().getSimpleName();
        if (event instanceof RunEvent.Failed failed) return what + ", retry after " + failed.retryAfter();
        if (event instanceof RunEvent.Dead dead) return what + ": " + dead.error();
        if (event instanceof RunEvent.Cancelled cancelled) return what + ": " + cancelled.reason();
        if (event instanceof RunEvent.Snoozed snoozed) return what + " for " + snoozed.delay();
        if (event instanceof RunEvent.AwaitingCallback awaiting) return what + " within " + awaiting.timeout();
        return what;
    }

    private List<String> takeEvents() {
        List<String> taken = new ArrayList<>(events);
        events.clear();
        return taken;
    }

    @Test
    void receive_every_schedule_change_and_every_run() {
        Carillon carillon = client();
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules()
                .upsert("r", HOURLY, REPORT, EU, ScheduleOptions.defaults().grace(Duration.ofMinutes(1)));
        carillon.schedules().pause("r", PauseOptions.untilResumed().by("ann").reason("stocktaking"));
        carillon.schedules().resume("r");
        assertThat(takeEvents()).containsExactly("Created r", "Changed r", "Paused r by ann: stocktaking", "Resumed r");

        clock.stopAt(Instant.parse("2026-05-04T13:00:00Z"));
        carillon.runDue(Duration.ofSeconds(20));
        carillon.enqueue(REPORT, new Report("us"));
        carillon.runDue(Duration.ofSeconds(20));
        carillon.schedules().delete("r");
        carillon.schedules().delete("r");
        assertThat(takeEvents()).containsExactly("started 1", "Succeeded", "started 1", "Dead: no", "Deleted r");
        assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                .contains(
                        "schedule created schedule=r project=default",
                        "schedule changed schedule=r project=default version=2",
                        "schedule paused schedule=r project=default by=ann until=null reason=stocktaking",
                        "schedule resumed schedule=r project=default",
                        "schedule deleted schedule=r project=default")
                .anyMatch(line ->
                        line.matches("run dead run=run_\\w+ queue=report.make handler=report.make attempt=1 error=no"));
    }

    @Test
    void text_of_a_caller_forges_no_line_of_the_log() {
        String forged = "x\n2026-01-01 ERROR forged \u001b[2J";
        Carillon carillon = fixture.client(builder -> builder.handleReturning(
                REPORT, (report, run) -> Outcome.rejected("\u009bno\r2026-01-01 ERROR forged")));
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);

        carillon.schedules()
                .pause("r", PauseOptions.untilResumed().by("ann\u202e").reason(forged));
        carillon.enqueue(REPORT, EU);
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                .contains("schedule paused schedule=r project=default by=ann\\u202e until=null"
                        + " reason=x\\n2026-01-01 ERROR forged \\u001b[2J")
                .anyMatch(line -> line.endsWith("error=\\u009bno\\r2026-01-01 ERROR forged"))
                .noneMatch(line -> line.chars().anyMatch(Character::isISOControl));
    }

    static Stream<Arguments> outcomes() {
        return Stream.of(
                arguments(Outcome.succeeded("done"), "Succeeded"),
                arguments(Outcome.retryAfter(Duration.ofMinutes(5)), "Failed, retry after PT5M"),
                arguments(Outcome.rejected("no"), "Dead: no"),
                arguments(new Outcome.Cancelled("by ann"), "Cancelled: by ann"),
                arguments(Outcome.snoozed(Duration.ofHours(1)), "Snoozed for PT1H"),
                arguments(
                        Outcome.awaitingCallback(Duration.ofHours(2), CallbackToken.generate()),
                        "AwaitingCallback within PT2H"));
    }

    @ParameterizedTest
    @MethodSource("outcomes")
    void receive_one_event_for_the_start_and_one_for_the_end_of_an_attempt(Outcome outcome, String end) {
        List<RunEvent> received = new ArrayList<>();
        Carillon carillon = fixture.client(
                builder -> builder.listener(received::add).handleReturning(REPORT, (report, run) -> outcome));
        RunId id = carillon.enqueue(REPORT, EU).run();

        carillon.runDue(Duration.ofSeconds(20));

        assertThat(received.stream().map(event -> text(event))).containsExactly("started 1", end);
        assertThat(received).allSatisfy(event -> {
            assertThat(event.run().id()).isEqualTo(id);
            assertThat(event.run().queue()).isEqualTo("report.make");
            assertThat(event.run().attempt()).isOne();
            assertThat(event.run().schedule()).isNull();
        });
        assertThat(((RunEvent.AttemptEnded) received.get(1)).took()).isPositive();
    }

    @Test
    void planned_ticks_are_reported_to_non_blocking_listeners_only() {
        class Planning implements ScheduleListener {
            @Override
            public boolean isNonBlocking() {
                return true;
            }

            @Override
            public void onScheduleEvent(ScheduleEvent event) {
                if (event instanceof ScheduleEvent.Planned planned)
                    events.add("non-blocking " + planned.schedule() + " " + planned.ticks());
            }
        }
        Carillon carillon = fixture.client(builder -> builder.scheduleListener(event -> events.add(text(event)))
                .scheduleListener(new Planning())
                .handle(REPORT, (report, run) -> {}));
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(Instant.parse("2026-05-04T13:00:02Z"));

        carillon.runDue(Duration.ofSeconds(20));

        assertThat(takeEvents())
                .contains("Created r", "non-blocking r 1")
                .noneMatch(event -> event.startsWith("Planned"));
    }

    @Test
    void the_debug_log_contains_each_planned_tick_and_each_start() {
        lifecycleLog().setLevel(Level.DEBUG);
        Carillon carillon = client();
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(Instant.parse("2026-05-04T13:00:02Z"));
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                .anyMatch(line ->
                        line.matches("ticks planned schedule=r project=default ticks=1 from=2026-05-04T1[34]:00:00Z"))
                .anyMatch(line -> line.matches("attempt started run=run_\\w+ queue=report.make handler=report.make"
                        + " attempt=1 late_ms=2\\d\\d\\d"))
                .anyMatch(line -> line.matches("attempt ended run=run_\\w+ attempt=1 next=Complete"));
    }

    @Test
    void receive_one_event_per_reason_for_instants_that_do_not_run() {
        Carillon carillon = client();
        carillon.schedules().upsert("r", HOURLY.except(LocalDate.parse("2026-05-05")), REPORT, EU);
        clock.stopAt(Instant.parse("2026-05-06T02:30:00Z"));
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(takeEvents())
                .contains(
                        "Created r",
                        "Missed r 13:00-23:00 11 older than the catch-up window",
                        "Missed r 00:00-01:00 2 only the latest missed instant runs",
                        "Skipped r 00:00-23:00 24 excluded date");
        assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                .contains("instants skipped schedule=r project=default count=24 from=2026-05-05T00:00:00Z"
                        + " to=2026-05-05T23:00:00Z reason=excluded date");
    }

    @Test
    void receive_an_event_for_an_instant_that_an_overlap_skipped() {
        Carillon carillon = client();
        carillon.schedules()
                .upsert(
                        "r",
                        When.every(Duration.ofMinutes(1)),
                        REPORT,
                        EU,
                        ScheduleOptions.defaults().overlap(OverlapPolicy.SKIP));
        carillon.schedules().trigger("r");
        fixture.database()
                .execute("UPDATE carillon.run SET gate_position = NULL, gate_arrival_at = NULL, parked = NULL,"
                        + " ready_at = 'infinity'"
                        + " WHERE origin = 'trigger'");
        clock.stopAt(Instant.parse("2026-05-04T12:01:00Z"));
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(takeEvents()).contains("Skipped r 12:01-12:01 1 overlap: an earlier run had not ended");
    }

    @Test
    void non_blocking_listeners_are_called_synchronously_for_runs_and_schedules() {
        class Both implements RunListener, ScheduleListener {
            @Override
            public boolean isNonBlocking() {
                return true;
            }

            @Override
            public void onScheduleEvent(ScheduleEvent event) {
                if (!(event instanceof ScheduleEvent.Planned)) events.add(text(event));
            }

            @Override
            public void onRunEvent(RunEvent event) {
                events.add(text(event));
            }
        }
        Carillon node = fixture.node(builder -> builder.listener(new Both()).handle(REPORT, (report, run) -> {}));

        node.schedules().upsert("r", HOURLY, REPORT, EU);
        assertThat(takeEvents()).containsExactly("Created r");
        node.enqueue(REPORT, EU);
        eventually().until(() -> events.contains("Succeeded"));
    }

    @Test
    void hanging_or_throwing_listeners_delay_no_run() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger made = new AtomicInteger();
        Carillon hanging = fixture.node(builder -> builder.scheduleListener(event -> {
                    try {
                        never.await();
                    } catch (InterruptedException stopped) {
                        events.add("stopped");
                    }
                })
                .handle(REPORT, (report, run) -> made.incrementAndGet()));
        hanging.schedules().upsert("r", HOURLY, REPORT, EU);
        for (int i = 0; i < 100; i++) hanging.enqueue(REPORT, EU);
        eventually().until(() -> made.get() == 100);
        hanging.close();
        assertThat(takeEvents()).containsExactly("stopped");

        Carillon throwing = fixture.node(builder -> builder.scheduleListener(event -> {
                    throw new IllegalStateException("hostile");
                })
                .listener(event -> {
                    if (event instanceof RunEvent.AttemptStarted) throw new StackOverflowError();
                    throw new IllegalStateException("hostile");
                })
                .handle(REPORT, (report, run) -> made.incrementAndGet()));
        throwing.schedules().delete("r");
        for (int i = 0; i < 100; i++) throwing.enqueue(REPORT, EU);
        eventually().until(() -> made.get() == 200);
        assertThat(throwing.schedules().list()).isEmpty();
    }
}
